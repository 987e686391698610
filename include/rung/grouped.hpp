#pragma once
// Grouped matrix products with groups of different sizes, such as the experts of a
// mixture-of-experts layer.

#include <cstdint>

#include "rung/batch.hpp"
#include "rung/cuda.hpp"
#include "rung/error.hpp"
#include "rung/export.hpp"
#include "rung/matrix.hpp"
#include "rung/options.hpp"
#include "rung/types.hpp"

namespace rung {

/// For each group g, multiplies rows offsets[g] to offsets[g + 1] of A and C (end excluded):
///
///   C rows = alpha * A rows * B[g] + beta * C rows
///
/// A is tokens x k, B is a batch with a k x n matrix in either order for each group, and C is a
/// row-major tokens x n matrix. Groups need no padding: a group may have any number of rows,
/// including 0.
///
/// - offsets has one element more than B has matrices. It ascends from at least 0 to at most the
///   number of rows of A. Rows before the first offset and from the last offset on belong to no
///   group; these rows of C are unchanged.
/// - A result never depends on rows of other groups, even if these are NaN.
/// - alpha, beta, k = 0, overlap and threads follow the rules of rung/gemm.hpp.
///
/// Throws what gemm() throws. Also throws rung::Error (Status::invalid_argument), before writing
/// anything, if offsets are null, decreasing, negative or greater than the number of rows, if C is
/// column-major, if B is an array of pointers, or if there are more than 2^31 - 1 rows.
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

/// For each group g, multiplies columns offsets[g] to offsets[g + 1] of A (end excluded) by the
/// same rows of B:
///
///   C[g] = alpha * A columns * B rows + beta * C[g]
///
/// A is m x tokens, B is tokens x n, and C is a batch with an m x n matrix for each group. If A is
/// the transposed() matrix of activations and B the gradients of the outputs, the results are
/// weight gradients. A group of 0 tokens gives beta * C[g]. Other rules and errors are as above.
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

/// GPU version, with the rules of gemm() in rung/cuda.hpp. offsets is in device memory and is read
/// there, in stream order; the call does not synchronize.
///
/// - Each 512 groups take one launch. 8-bit types require sm_90, all others sm_80.
/// - Operands that TMA cannot read in place are packed first, as in rung/cuda.hpp. On sm_90 this
///   applies to 16-bit, 8-bit and tfloat32 elements: unaligned operands; a column-major A, for
///   groups of rows; and row-major matrices of B, for 8-bit elements and tfloat32.
/// - tfloat32 elements are not rounded on other GPUs, or if the matrices do not fit TMA (below).
/// - If offsets decrease or exceed the matrices, *options.status becomes 1 unless it is null;
///   otherwise it is unchanged. The contents of C are then undefined, but nothing outside C is
///   written.
///
/// Throws what gemm() throws. Also throws Status::unavailable for 8-bit elements if the distance of
/// two matrices of C, or of column-major B, is not a multiple of their leading dimension; for
/// compute mode reproducible; and for double in mode batch_invariant.
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
