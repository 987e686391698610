#pragma once
// Products of a bfloat16 and a float matrix, such as activations times the weights of a router.

#include "rung/cuda.hpp"
#include "rung/error.hpp"
#include "rung/export.hpp"
#include "rung/matrix.hpp"
#include "rung/options.hpp"
#include "rung/types.hpp"

namespace rung {

/// Computes C = alpha * A * B + beta * C, where one of A and B is bfloat16, and the other one and C
/// are float. Nothing is rounded to bfloat16: the product is that of two float matrices. |error| <=
/// (k + 4) u |A||B| with u = 2^-24. Other rules, including compute modes, are as in rung/gemm.hpp.
///
/// On CPUs, the bfloat16 operand is first widened to float. Throws std::bad_alloc if there is no
/// memory for that.
RUNG_API void gemm(float alpha, const MatrixView<const bfloat16>& a,
                   const MatrixView<const float>& b, float beta, const MatrixView<float>& c,
                   const GemmOptions& options = {});
RUNG_API void gemm(float alpha, const MatrixView<const float>& a,
                   const MatrixView<const bfloat16>& b, float beta, const MatrixView<float>& c,
                   const GemmOptions& options = {});

/// GPU version, with the rules of rung/cuda.hpp. On sm_90, if k is at least 1024 and a model
/// predicts a gain, tensor cores multiply bfloat16 elements by floats that are split into sums of
/// three bfloat16. Products are exact, partial sums are promoted to float every 64 k-steps, and
/// |error| <= (k / 4 + 160) u |A||B|. Elements of C are recomputed in float if their sum is not
/// finite, or if their column of B (or row of A) contains a nonzero float below 2^-102. Subnormal
/// bfloat16 may be flushed to 0. In modes reproducible and batch_invariant, on other GPUs and for
/// smaller products, the bfloat16 operand is first widened to float.
///
/// Split and widened operands are stored in the workspace like packed operands (CudaOptions).
/// Throws Status::invalid_argument if the caller's workspace is too small for them.
RUNG_API void gemm(float alpha, const MatrixView<const bfloat16>& a,
                   const MatrixView<const float>& b, float beta, const MatrixView<float>& c,
                   CudaStream stream, const CudaOptions& options = {});
RUNG_API void gemm(float alpha, const MatrixView<const float>& a,
                   const MatrixView<const bfloat16>& b, float beta, const MatrixView<float>& c,
                   CudaStream stream, const CudaOptions& options = {});

}  // namespace rung
