#pragma once
// Matrix products of 8-bit floats with one scale for each block of elements.

#include <cstdint>

#include "rung/batch.hpp"
#include "rung/cuda.hpp"
#include "rung/epilogue.hpp"
#include "rung/error.hpp"
#include "rung/export.hpp"
#include "rung/matrix.hpp"
#include "rung/options.hpp"
#include "rung/types.hpp"

namespace rung {

/// 8-bit elements and the scales of their blocks.
struct BlockScaledMatrix {
  MatrixView<const float8_e4m3> elements;
  MatrixView<const float> scales;
};

/// Elements and scales of each group's matrix. Both batches have the same count.
struct BlockScaledBatch {
  BatchView<const float8_e4m3> elements;
  BatchView<const float> scales;
};

/// Computes C = alpha * A * B + beta * C with
///
///   A[i, l] = a.elements[i, l] * a.scales[i, l / 128]
///   B[l, j] = b.elements[l, j] * b.scales[l / 128, j / 128]
///
/// A is m x k, B is k x n, and C is an m x n matrix of float or bfloat16. a.scales is m x ceil(k /
/// 128) and b.scales is ceil(k / 128) x ceil(n / 128), each in row-major or column-major order.
/// Pass weights stored as n x k, with scales of n / 128 x k / 128, as transposed() views of both.
///
/// - Products of 128 k-steps are summed, multiplied by both scales and added to a float
///   accumulator. On GPUs, tensor cores keep 14 bits of each sum of 128 k-steps.
/// - C must be row-major: exchanging A and B would exchange their block shapes.
/// - On CPUs both modes compute in the default floating-point environment.
/// - alpha, beta, k = 0, overlap and threads follow the rules of rung/gemm.hpp.
///
/// Throws what gemm() throws. Also throws rung::Error (Status::invalid_argument), before writing
/// anything, if scales have the wrong extents or are null, or if C is column-major, has another
/// type or overlaps the scales. options.compute_mode must be `standard` or `batch_invariant`. The
/// latter costs nothing, because the summation order depends only on k in both modes.
RUNG_API void gemm_block_scaled(float alpha, const BlockScaledMatrix& a, const BlockScaledMatrix& b,
                                float beta, const OutputMatrix& c, const GemmOptions& options = {});

/// Grouped version, with groups of rows as in rung/grouped.hpp: group g multiplies rows
/// [offsets[g], offsets[g + 1]) of A, with their scales, by matrix g of B, and writes these rows of
/// C.
RUNG_API void gemm_block_scaled(float alpha, const BlockScaledMatrix& a, const BlockScaledBatch& b,
                                float beta, const OutputMatrix& c, const std::int32_t* offsets,
                                const GemmOptions& options = {});

/// GPU version for sm_90, with the rules of rung/cuda.hpp. All operands are in GPU memory. The
/// kernel reads scales in place. Elements that are unaligned or not K-major (a column-major A, a
/// row-major B) are packed first. Throws Status::unavailable on other GPUs.
RUNG_API void gemm_block_scaled(float alpha, const BlockScaledMatrix& a, const BlockScaledMatrix& b,
                                float beta, const OutputMatrix& c, CudaStream stream,
                                const CudaOptions& options = {});
/// Grouped GPU version. Offsets, options.status and the matrices of B are as in gemm_grouped().
RUNG_API void gemm_block_scaled(float alpha, const BlockScaledMatrix& a, const BlockScaledBatch& b,
                                float beta, const OutputMatrix& c, const std::int32_t* offsets,
                                CudaStream stream, const CudaBatchOptions& options = {});

}  // namespace rung
