#pragma once
// Ragged groups of matrix products: the experts of a mixture, each with as many rows as it gets.

#include <cstdint>

#include "rung/batch.hpp"
#include "rung/cuda.hpp"
#include "rung/error.hpp"
#include "rung/export.hpp"
#include "rung/matrix.hpp"
#include "rung/options.hpp"
#include "rung/types.hpp"

namespace rung {

/// For each group g, with the rows from offsets[g] to offsets[g + 1] of A and C:
///
///   C rows = alpha * A rows * B[g] + beta * C rows
///
/// A is tokens x k, B has a k x n matrix for each group, in either order, and C is tokens x n,
/// row-major. Groups need no padding: any may have any number of rows, also 0.
///
/// - offsets has one element more than B has matrices, ascending, from 0 to at most the rows of A.
///   Rows before the first and from the last one on belong to no group: those of C are not
///   written.
/// - No row's result depends on rows of other groups, even if these are NaN.
/// - Otherwise everything is as rung/gemm.hpp has it: alpha, beta, k = 0, overlap, threads.
///
/// Throws what gemm() throws; and rung::Error (Status::invalid_argument), before writing anything,
/// if offsets are null, decrease, are negative or exceed the rows, if C is column-major, if B is an
/// array of pointers, or if there are more than 2^31 - 1 rows.
RUNG_API void gemm_grouped(float alpha, const MatrixView<const float>& a,
                           const BatchView<const float>& b, float beta, const MatrixView<float>& c,
                           const std::int32_t* offsets, const GemmOptions& options = {});
RUNG_API void gemm_grouped(double alpha, const MatrixView<const double>& a,
                           const BatchView<const double>& b, double beta,
                           const MatrixView<double>& c, const std::int32_t* offsets,
                           const GemmOptions& options = {});
RUNG_API void gemm_grouped(std::int32_t alpha, const MatrixView<const std::int32_t>& a,
                           const BatchView<const std::int32_t>& b, std::int32_t beta,
                           const MatrixView<std::int32_t>& c, const std::int32_t* offsets,
                           const GemmOptions& options = {});
RUNG_API void gemm_grouped(float alpha, const MatrixView<const bfloat16>& a,
                           const BatchView<const bfloat16>& b, float beta,
                           const MatrixView<float>& c, const std::int32_t* offsets,
                           const GemmOptions& options = {});
RUNG_API void gemm_grouped(float alpha, const MatrixView<const float16>& a,
                           const BatchView<const float16>& b, float beta,
                           const MatrixView<float>& c, const std::int32_t* offsets,
                           const GemmOptions& options = {});
RUNG_API void gemm_grouped(float alpha, const MatrixView<const bfloat16>& a,
                           const BatchView<const bfloat16>& b, float beta,
                           const MatrixView<bfloat16>& c, const std::int32_t* offsets,
                           const GemmOptions& options = {});
RUNG_API void gemm_grouped(float alpha, const MatrixView<const float16>& a,
                           const BatchView<const float16>& b, float beta,
                           const MatrixView<float16>& c, const std::int32_t* offsets,
                           const GemmOptions& options = {});
RUNG_API void gemm_grouped(std::int32_t alpha, const MatrixView<const std::int8_t>& a,
                           const BatchView<const std::int8_t>& b, std::int32_t beta,
                           const MatrixView<std::int32_t>& c, const std::int32_t* offsets,
                           const GemmOptions& options = {});
RUNG_API void gemm_grouped(float alpha, const MatrixView<const float8_e4m3>& a,
                           const BatchView<const float8_e4m3>& b, float beta,
                           const MatrixView<float>& c, const std::int32_t* offsets,
                           const GemmOptions& options = {});
RUNG_API void gemm_grouped(float alpha, const MatrixView<const float8_e5m2>& a,
                           const BatchView<const float8_e5m2>& b, float beta,
                           const MatrixView<float>& c, const std::int32_t* offsets,
                           const GemmOptions& options = {});

/// For each group g, with columns offsets[g] to offsets[g + 1] of A and the same rows of B:
///
///   C[g] = alpha * A columns * B rows + beta * C[g]
///
/// A is m x tokens, B is tokens x n, and C has an m x n matrix for each group. With A as
/// transposed() rows of activations, and B of gradients, these are the gradients of the weights. A
/// group of 0 tokens becomes beta * C[g]. Otherwise as above.
RUNG_API void gemm_grouped(float alpha, const MatrixView<const float>& a,
                           const MatrixView<const float>& b, float beta, const BatchView<float>& c,
                           const std::int32_t* offsets, const GemmOptions& options = {});
RUNG_API void gemm_grouped(double alpha, const MatrixView<const double>& a,
                           const MatrixView<const double>& b, double beta,
                           const BatchView<double>& c, const std::int32_t* offsets,
                           const GemmOptions& options = {});
RUNG_API void gemm_grouped(std::int32_t alpha, const MatrixView<const std::int32_t>& a,
                           const MatrixView<const std::int32_t>& b, std::int32_t beta,
                           const BatchView<std::int32_t>& c, const std::int32_t* offsets,
                           const GemmOptions& options = {});
RUNG_API void gemm_grouped(float alpha, const MatrixView<const bfloat16>& a,
                           const MatrixView<const bfloat16>& b, float beta,
                           const BatchView<float>& c, const std::int32_t* offsets,
                           const GemmOptions& options = {});
RUNG_API void gemm_grouped(float alpha, const MatrixView<const float16>& a,
                           const MatrixView<const float16>& b, float beta,
                           const BatchView<float>& c, const std::int32_t* offsets,
                           const GemmOptions& options = {});
RUNG_API void gemm_grouped(float alpha, const MatrixView<const bfloat16>& a,
                           const MatrixView<const bfloat16>& b, float beta,
                           const BatchView<bfloat16>& c, const std::int32_t* offsets,
                           const GemmOptions& options = {});
RUNG_API void gemm_grouped(float alpha, const MatrixView<const float16>& a,
                           const MatrixView<const float16>& b, float beta,
                           const BatchView<float16>& c, const std::int32_t* offsets,
                           const GemmOptions& options = {});
RUNG_API void gemm_grouped(std::int32_t alpha, const MatrixView<const std::int8_t>& a,
                           const MatrixView<const std::int8_t>& b, std::int32_t beta,
                           const BatchView<std::int32_t>& c, const std::int32_t* offsets,
                           const GemmOptions& options = {});
RUNG_API void gemm_grouped(float alpha, const MatrixView<const float8_e4m3>& a,
                           const MatrixView<const float8_e4m3>& b, float beta,
                           const BatchView<float>& c, const std::int32_t* offsets,
                           const GemmOptions& options = {});
RUNG_API void gemm_grouped(float alpha, const MatrixView<const float8_e5m2>& a,
                           const MatrixView<const float8_e5m2>& b, float beta,
                           const BatchView<float>& c, const std::int32_t* offsets,
                           const GemmOptions& options = {});

/// The same on the GPU, under the rules of gemm in rung/cuda.hpp. offsets is in device memory, and
/// read there: the call neither waits for what computes it, nor for anything else.
///
/// - It is one launch for each 512 groups. 8-bit elements have a kernel on GPUs of sm_90, all others
///   from sm_80 on.
/// - Operands that TMA cannot read in place are packed first, as rung/cuda.hpp has it. On sm_90 that
///   concerns elements of 16 and 8 bits and tfloat32: unaligned ones; an A by columns, for groups of
///   rows; and all matrices of B by rows, of 8 bits and tfloat32.
/// - Where the matrices of tfloat32 do not fit TMA (below), and on other GPUs, its elements are not
///   rounded.
/// - Offsets that decrease or leave the matrices make *options.status 1, if that is not null; else
///   it stays as it is. Then what C has is undefined, but nothing outside of C is written.
///
/// Throws what gemm throws; Status::unavailable also for 8-bit elements if two matrices of B, or of C, are
/// not a multiple of their leading dimension apart, or matrices of B by rows no multiple of 16 bytes
/// long in a column; in mode reproducible; and for double in mode batch_invariant.
RUNG_API void gemm_grouped(float alpha, const MatrixView<const float>& a,
                           const BatchView<const float>& b, float beta, const MatrixView<float>& c,
                           const std::int32_t* offsets, CudaStream stream,
                           const CudaBatchOptions& options = {});
RUNG_API void gemm_grouped(double alpha, const MatrixView<const double>& a,
                           const BatchView<const double>& b, double beta,
                           const MatrixView<double>& c, const std::int32_t* offsets,
                           CudaStream stream, const CudaBatchOptions& options = {});
RUNG_API void gemm_grouped(std::int32_t alpha, const MatrixView<const std::int32_t>& a,
                           const BatchView<const std::int32_t>& b, std::int32_t beta,
                           const MatrixView<std::int32_t>& c, const std::int32_t* offsets,
                           CudaStream stream, const CudaBatchOptions& options = {});
RUNG_API void gemm_grouped(float alpha, const MatrixView<const bfloat16>& a,
                           const BatchView<const bfloat16>& b, float beta,
                           const MatrixView<float>& c, const std::int32_t* offsets,
                           CudaStream stream, const CudaBatchOptions& options = {});
RUNG_API void gemm_grouped(float alpha, const MatrixView<const float16>& a,
                           const BatchView<const float16>& b, float beta,
                           const MatrixView<float>& c, const std::int32_t* offsets,
                           CudaStream stream, const CudaBatchOptions& options = {});
RUNG_API void gemm_grouped(float alpha, const MatrixView<const bfloat16>& a,
                           const BatchView<const bfloat16>& b, float beta,
                           const MatrixView<bfloat16>& c, const std::int32_t* offsets,
                           CudaStream stream, const CudaBatchOptions& options = {});
RUNG_API void gemm_grouped(float alpha, const MatrixView<const float16>& a,
                           const BatchView<const float16>& b, float beta,
                           const MatrixView<float16>& c, const std::int32_t* offsets,
                           CudaStream stream, const CudaBatchOptions& options = {});
RUNG_API void gemm_grouped(float alpha, const MatrixView<const tfloat32>& a,
                           const BatchView<const tfloat32>& b, float beta,
                           const MatrixView<float>& c, const std::int32_t* offsets,
                           CudaStream stream, const CudaBatchOptions& options = {});
RUNG_API void gemm_grouped(std::int32_t alpha, const MatrixView<const std::int8_t>& a,
                           const BatchView<const std::int8_t>& b, std::int32_t beta,
                           const MatrixView<std::int32_t>& c, const std::int32_t* offsets,
                           CudaStream stream, const CudaBatchOptions& options = {});
RUNG_API void gemm_grouped(float alpha, const MatrixView<const float8_e4m3>& a,
                           const BatchView<const float8_e4m3>& b, float beta,
                           const MatrixView<float>& c, const std::int32_t* offsets,
                           CudaStream stream, const CudaBatchOptions& options = {});
RUNG_API void gemm_grouped(float alpha, const MatrixView<const float8_e5m2>& a,
                           const BatchView<const float8_e5m2>& b, float beta,
                           const MatrixView<float>& c, const std::int32_t* offsets,
                           CudaStream stream, const CudaBatchOptions& options = {});
RUNG_API void gemm_grouped(float alpha, const MatrixView<const float>& a,
                           const MatrixView<const float>& b, float beta, const BatchView<float>& c,
                           const std::int32_t* offsets, CudaStream stream,
                           const CudaBatchOptions& options = {});
RUNG_API void gemm_grouped(double alpha, const MatrixView<const double>& a,
                           const MatrixView<const double>& b, double beta,
                           const BatchView<double>& c, const std::int32_t* offsets,
                           CudaStream stream, const CudaBatchOptions& options = {});
RUNG_API void gemm_grouped(std::int32_t alpha, const MatrixView<const std::int32_t>& a,
                           const MatrixView<const std::int32_t>& b, std::int32_t beta,
                           const BatchView<std::int32_t>& c, const std::int32_t* offsets,
                           CudaStream stream, const CudaBatchOptions& options = {});
RUNG_API void gemm_grouped(float alpha, const MatrixView<const bfloat16>& a,
                           const MatrixView<const bfloat16>& b, float beta,
                           const BatchView<float>& c, const std::int32_t* offsets,
                           CudaStream stream, const CudaBatchOptions& options = {});
RUNG_API void gemm_grouped(float alpha, const MatrixView<const float16>& a,
                           const MatrixView<const float16>& b, float beta,
                           const BatchView<float>& c, const std::int32_t* offsets,
                           CudaStream stream, const CudaBatchOptions& options = {});
RUNG_API void gemm_grouped(float alpha, const MatrixView<const bfloat16>& a,
                           const MatrixView<const bfloat16>& b, float beta,
                           const BatchView<bfloat16>& c, const std::int32_t* offsets,
                           CudaStream stream, const CudaBatchOptions& options = {});
RUNG_API void gemm_grouped(float alpha, const MatrixView<const float16>& a,
                           const MatrixView<const float16>& b, float beta,
                           const BatchView<float16>& c, const std::int32_t* offsets,
                           CudaStream stream, const CudaBatchOptions& options = {});
RUNG_API void gemm_grouped(float alpha, const MatrixView<const tfloat32>& a,
                           const MatrixView<const tfloat32>& b, float beta,
                           const BatchView<float>& c, const std::int32_t* offsets,
                           CudaStream stream, const CudaBatchOptions& options = {});
RUNG_API void gemm_grouped(std::int32_t alpha, const MatrixView<const std::int8_t>& a,
                           const MatrixView<const std::int8_t>& b, std::int32_t beta,
                           const BatchView<std::int32_t>& c, const std::int32_t* offsets,
                           CudaStream stream, const CudaBatchOptions& options = {});
RUNG_API void gemm_grouped(float alpha, const MatrixView<const float8_e4m3>& a,
                           const MatrixView<const float8_e4m3>& b, float beta,
                           const BatchView<float>& c, const std::int32_t* offsets,
                           CudaStream stream, const CudaBatchOptions& options = {});
RUNG_API void gemm_grouped(float alpha, const MatrixView<const float8_e5m2>& a,
                           const MatrixView<const float8_e5m2>& b, float beta,
                           const BatchView<float>& c, const std::int32_t* offsets,
                           CudaStream stream, const CudaBatchOptions& options = {});

}  // namespace rung
