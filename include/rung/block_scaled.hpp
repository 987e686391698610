#pragma once
// Matrix products of 8-bit floating-point numbers with a scale for each block of elements.

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

/// Elements, and the factors that make them numbers.
struct BlockScaledMatrix {
  MatrixView<const float8_e4m3> elements;
  MatrixView<const float> scales;
};

/// The same of each group. `scales.count` is that of `elements`.
struct BlockScaledBatch {
  BatchView<const float8_e4m3> elements;
  BatchView<const float> scales;
};

/// C = alpha * A * B + beta * C for
///
///   A[i, l] = a.elements[i, l] * a.scales[i, l / 128]
///   B[l, j] = b.elements[l, j] * b.scales[l / 128, j / 128]
///
/// A is m x k, B is k x n, C is m x n, of float or bfloat16. a.scales is m x k / 128 and b.scales is
/// k / 128 x n / 128, both rounded up, in either order: pass weights that are stored as n x k, with
/// scales of n / 128 x k / 128, as transposed() views of both.
///
/// - Products of 128 steps are summed and then, times the two scales, added to a sum in float. On
///   GPUs, tensor cores keep 14 bits of the sum of 128 steps.
/// - C is row-major: exchanging A and B would exchange their blocks.
/// - Otherwise everything is as rung/gemm.hpp has it: alpha, beta, k = 0, overlap, threads.
///
/// Throws what gemm() throws; and rung::Error (Status::invalid_argument), before writing anything,
/// if scales have other extents or are null, C is column-major, or its type is another one.
/// options.compute_mode must be standard, or batch_invariant, which costs nothing: the order of sums
/// depends on k alone in any case.
RUNG_API void gemm_block_scaled(float alpha, const BlockScaledMatrix& a, const BlockScaledMatrix& b,
                                float beta, const OutputMatrix& c, const GemmOptions& options = {});

/// The same for groups of rows, as rung/grouped.hpp has them: group g has the rows from offsets[g] to
/// offsets[g + 1] of A, of its scales and of C, and matrix g of B.
RUNG_API void gemm_block_scaled(float alpha, const BlockScaledMatrix& a, const BlockScaledBatch& b,
                                float beta, const OutputMatrix& c, const std::int32_t* offsets,
                                const GemmOptions& options = {});

/// The same on GPUs of sm_90, under the rules of rung/cuda.hpp; everything but alpha and beta is in
/// GPU memory. The kernel reads scales where and as they are. Elements that are unaligned or not
/// K-major (A by columns, B by rows) are packed first. Throws Status::unavailable on other GPUs.
RUNG_API void gemm_block_scaled(float alpha, const BlockScaledMatrix& a, const BlockScaledMatrix& b,
                                float beta, const OutputMatrix& c, CudaStream stream,
                                const CudaOptions& options = {});
/// Offsets, options.status and matrices of B are as in gemm_grouped.
RUNG_API void gemm_block_scaled(float alpha, const BlockScaledMatrix& a, const BlockScaledBatch& b,
                                float beta, const OutputMatrix& c, const std::int32_t* offsets,
                                CudaStream stream, const CudaBatchOptions& options = {});

}  // namespace rung
