#pragma once
// Products with block scales: argument checks, and the CPU implementation.

#include <cstdint>

#include "core/block_scales.hpp"
#include "core/grouped.hpp"
#include "rung/block_scaled.hpp"

namespace rung {

/// `product` has Dtype::e4m3, whose results are float; C has bfloat16 elements if scales.to_bf16. A
/// single product has one group without offsets. If alpha or k is 0, k is set to 0.
struct BlockScaledCall {
  GroupedCall product;
  BlockScales scales;
};

/// Throws rung::Error (Status::invalid_argument). Does not read offsets.
BlockScaledCall canonical(double alpha, const BlockScaledMatrix& a, const BlockScaledMatrix& b,
                          double beta, const OutputMatrix& c);
BlockScaledCall canonical(double alpha, const BlockScaledMatrix& a, const BlockScaledBatch& b,
                          double beta, const OutputMatrix& c, const std::int32_t* offsets);

namespace check {

/// Checks that a mode is supported for products with block scales. Throws rung::Error.
void mode_of_block_scales(ComputeMode mode);

}  // namespace check

namespace cpu {

/// Throws rung::Error (Status::invalid_argument) if offsets are wrong, and std::bad_alloc.
void gemm_block_scaled(const BlockScaledCall& call, const GemmOptions& options);

}  // namespace cpu
}  // namespace rung
