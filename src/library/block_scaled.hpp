#pragma once
// Products with block scales: checked, and on the CPU.

#include <cstdint>

#include "core/block_scales.hpp"
#include "core/grouped.hpp"
#include "rung/block_scaled.hpp"

namespace rung {

/// `product` is of Dtype::e4m3, whose results are float; C has bfloat16 elements if scales.to_bf16.
/// One product has one group without offsets. If alpha or k was 0, k is.
struct BlockScaledCall {
  GroupedCall product;
  BlockScales scales;
};

/// Throws rung::Error (Status::invalid_argument), but does not read offsets.
BlockScaledCall canonical(double alpha, const BlockScaledMatrix& a, const BlockScaledMatrix& b,
                          double beta, const OutputMatrix& c);
BlockScaledCall canonical(double alpha, const BlockScaledMatrix& a, const BlockScaledBatch& b,
                          double beta, const OutputMatrix& c, const std::int32_t* offsets);

namespace check {

/// The modes in which products with block scales are computed. Throws rung::Error.
void mode_of_block_scales(ComputeMode mode);

}  // namespace check

namespace cpu {

/// Throws rung::Error (Status::invalid_argument) if offsets are wrong, and std::bad_alloc.
void gemm_block_scaled(const BlockScaledCall& call, const GemmOptions& options);

}  // namespace cpu
}  // namespace rung
