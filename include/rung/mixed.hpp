#pragma once
// Products of bfloat16 and float matrices, such as activations and the weights of a router.

#include "rung/cuda.hpp"
#include "rung/error.hpp"
#include "rung/export.hpp"
#include "rung/matrix.hpp"
#include "rung/options.hpp"
#include "rung/types.hpp"

namespace rung {

/// C = alpha * A * B + beta * C, where A or B is of bfloat16, and the other one and C are of float.
/// Nothing is rounded to bfloat16: the result is that of float matrices, one of which has elements
/// that bfloat16 can hold. |error| <= (k + 4) u |A||B| at most, where u is 2^-24; and otherwise
/// everything is as rung/gemm.hpp has it, compute modes included.
///
/// On the CPU, the bfloat16 operand is widened to float first: std::bad_alloc if there is no memory
/// for that.
RUNG_API void gemm(float alpha, const MatrixView<const bfloat16>& a,
                   const MatrixView<const float>& b, float beta, const MatrixView<float>& c,
                   const GemmOptions& options = {});
RUNG_API void gemm(float alpha, const MatrixView<const float>& a,
                   const MatrixView<const bfloat16>& b, float beta, const MatrixView<float>& c,
                   const GemmOptions& options = {});

/// The same on the GPU, as rung/cuda.hpp has it. On GPUs of sm_90, where k is at least 1024 and that
/// pays, tensor cores multiply the bfloat16 elements with floats as sums of three bfloat16: products
/// are exact, sums are promoted to float every 64 steps, and |error| <= (k / 4 + 160) u |A||B|. Sums
/// that are not finite, or with a float below 2^-102 other than 0 in their column of B (or row of A),
/// are computed in float. Subnormal bfloat16 may count as 0. Modes reproducible and batch_invariant,
/// other GPUs and smaller products widen the bfloat16 operand to float first.
///
/// Parts and widened operands take memory as aligned copies do (CudaOptions):
/// Status::invalid_argument if the caller's workspace is too small for them.
RUNG_API void gemm(float alpha, const MatrixView<const bfloat16>& a,
                   const MatrixView<const float>& b, float beta, const MatrixView<float>& c,
                   CudaStream stream, const CudaOptions& options = {});
RUNG_API void gemm(float alpha, const MatrixView<const float>& a,
                   const MatrixView<const bfloat16>& b, float beta, const MatrixView<float>& c,
                   CudaStream stream, const CudaOptions& options = {});

}  // namespace rung
