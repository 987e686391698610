#pragma once
// Matrix products with 8-bit or 4-bit weights. Such weights save memory traffic: for a few tokens,
// the time of a network layer is the time to read its weights.

#include <cstddef>
#include <cstdint>

#include "rung/cuda.hpp"
#include "rung/epilogue.hpp"
#include "rung/error.hpp"
#include "rung/export.hpp"
#include "rung/matrix.hpp"
#include "rung/options.hpp"
#include "rung/packed_weights.hpp"
#include "rung/types.hpp"

namespace rung {

/// Quantized weights W, n x k:
///
///   W[j, l] = scales[j, l / group] * (elements[j, l] - zeros[j, l / group])
///
/// Rows are contiguous, without gaps.
struct QuantizedWeights {
  /// 8 bits: std::int8_t. 4 bits: two elements per byte, with the even column in the lower half;
  /// two's complement in [-8, 7] or, with zeros, unsigned in [0, 15].
  const void* elements = nullptr;
  int bits = 4;  // 4 or 8
  std::int64_t n = 0, k = 0;
  std::int64_t group = 128;  // columns that share a scale: 64 or 128, and k is a multiple of it
  InputMatrix scales = {};   // n x k / group, row-major without gaps, of float, bfloat16 or float16
  /// n x k / group zero points in [0, 15], only for 4 bits. Null (default): symmetric quantization.
  const std::uint8_t* zeros = nullptr;
};

/// The number of bytes that pack_weights() writes. Reads no pointer. Throws rung::Error
/// (Status::invalid_argument) for sizes that pack_weights() rejects.
RUNG_API std::size_t packed_weights_bytes(const QuantizedWeights& weights);

/// Packs weights once for many products. `packed` has packed_weights_bytes() bytes and is aligned
/// to 16 bytes. Throws rung::Error (Status::invalid_argument), before writing anything, for an
/// invalid bits, group or k, scales of the wrong shape or type, and null pointers. Zero points are
/// taken modulo 16.
RUNG_API PackedWeights pack_weights(const QuantizedWeights& weights, void* packed,
                                    const GemmOptions& options = {});
/// Packs in the memory of a GPU of sm_80 or later, in the stream.
RUNG_API PackedWeights pack_weights(const QuantizedWeights& weights, void* packed,
                                    CudaStream stream);

/// Computes C (m x n) = alpha * A (m x k) * W^T + beta * C, for A of bfloat16 or float16, and C of
/// the same type or of float.
///
/// - u is 2^-8 for bfloat16 and 2^-11 for float16. On GPUs, weights are not rounded: products of
///   elements are accumulated in float in units of their scale, and sums are multiplied by scales
///   or by the ratio of two scales. The error is at most (k + k / 16 + 4) 2^-24 (|A| |W|^T)
///   |alpha|, plus one rounding to the type of C. On CPUs, weights are rounded to the type of A,
///   which adds u / 2 (|A| |W|^T) |alpha|.
/// - Scales below 2^-124 in magnitude count as 0. On GPUs, a scale below 2^-80 times the largest
///   preceding scale of its row may be replaced by 2^-80 times that scale, and a sum may overflow
///   if it exceeds 2^127 times a later (possibly replaced) scale. An infinite scale gives infinity
///   or NaN.
/// - Layouts, alpha, beta, k = 0, overlap and threads follow the rules of rung/gemm.hpp.
///
/// Throws what gemm() throws. Also throws rung::Error (Status::invalid_argument), before writing
/// anything, if the weights were not made by pack_weights() or C overlaps them.
/// options.compute_mode must be standard.
RUNG_API void gemm_weight_only(float alpha, const InputMatrix& a, const PackedWeights& weights,
                               float beta, const OutputMatrix& c, const GemmOptions& options = {});
/// GPU version for sm_80 or later, with the rules of rung/cuda.hpp; A, C and the packed weights are
/// in GPU memory. Throws Status::unavailable on other GPUs.
RUNG_API void gemm_weight_only(float alpha, const InputMatrix& a, const PackedWeights& weights,
                               float beta, const OutputMatrix& c, CudaStream stream,
                               const CudaOptions& options = {});

}  // namespace rung
