#pragma once
// Whether it pays to split floats into halves for tensor cores: a model of both ways.

#include "library/cuda/select.hpp"

namespace rung {

/// Whether gemm/cuda/32, or 34 below sm_90, with the pass that splits A and B, is expected to take less
/// time than gemm/cuda/11, by a margin. The constants are those of an H200 (docs/notes/accurate-modes.md)
/// and, from its data sheet, of an A100.
bool splitting_pays(const CudaGemmShape& shape);

/// How many parts gemm/cuda/35 cuts k into where its tiles leave SMs idle, at most.
int splits_of_parts(std::int64_t k);

/// Whether gemm/cuda/35, with the pass that writes the operand of floats in parts, is expected to take
/// less time than gemm/cuda/11, with one that widens the other operand. For sm_90.
bool parts_pay(const CudaGemmShape& shape, bool a_is_narrow);

}  // namespace rung
