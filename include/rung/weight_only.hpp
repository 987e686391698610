#pragma once
// Matrix products by weights of 8 or 4 bits, which keep few bytes in memory: a layer of a network for
// a few tokens takes as long as its weights take to be read.

#include <cstddef>
#include <cstdint>

#include "rung/cuda.hpp"
#include "rung/epilogue.hpp"
#include "rung/error.hpp"
#include "rung/export.hpp"
#include "rung/matrix.hpp"
#include "rung/options.hpp"
#include "rung/types.hpp"

namespace rung {

/// Weights W of n x k as a quantizer leaves them:
///
///   W[j, l] = scales[j, l / group] * (elements[j, l] - zeros[j, l / group])
///
/// Rows follow each other without gaps.
struct QuantizedWeights {
  /// 8 bits: std::int8_t. 4 bits: two elements in a byte, that of the even column in the lower half;
  /// two's complement, -8 to 7, or, with zeros, 0 to 15.
  const void* elements = nullptr;
  int bits = 4;  // 4 or 8
  std::int64_t n = 0, k = 0;
  std::int64_t group = 128;  // columns that share a scale: 64 or 128, and k is a multiple of it
  InputMatrix scales = {};   // n x k / group, row-major without gaps, of float, bfloat16 or float16
  /// n x k / group zero points from 0 to 15, for 4 bits; null: there are none.
  const std::uint8_t* zeros = nullptr;
};

/// Weights as products read them. Only pack_weights() makes one; the memory is the caller's. It may be
/// copied, also from the CPU to a GPU or to a file: set `data` to the copy. The layout is that of this
/// minor version of the library.
struct PackedWeights {
  const void* data = nullptr;
  std::int64_t n = 0, k = 0;
  int bits = 0;
  std::int64_t group = 0;
  ElementType scales = ElementType::f32;
  bool has_zeros = false;
  std::uint32_t format = 0;  // says that pack_weights() made this
};

/// The bytes that pack_weights() writes. Throws rung::Error (Status::invalid_argument) for what it
/// refuses, but reads no pointer.
RUNG_API std::size_t packed_weights_bytes(const QuantizedWeights& weights);

/// Packs weights once, for many products. `packed` has packed_weights_bytes() bytes, at a multiple of
/// 16. Throws rung::Error (Status::invalid_argument), before writing anything: bits, group, k, or
/// scales that do not fit, null pointers. Zero points above 15 count modulo 16.
RUNG_API PackedWeights pack_weights(const QuantizedWeights& weights, void* packed,
                                    const GemmOptions& options = {});
/// The same in the memory of a GPU of sm_80 or later, in the stream.
RUNG_API PackedWeights pack_weights(const QuantizedWeights& weights, void* packed,
                                    CudaStream stream);

/// C (m x n) = alpha * A (m x k) * W^T + beta * C, for A of bfloat16 or float16, and C of the same type
/// or of float.
///
/// - u is 2^-8 for bfloat16 and 2^-11 for float16. On GPUs, weights are not rounded: products of elements
///   are added in float, in units of their scale, and sums are multiplied by scales or the ratio of two.
///   The error is at most (k + k / 16 + 4) 2^-24 (|A| |W|^T) |alpha|, and that of one rounding to the type
///   of C. On CPUs, weights are rounded to the type of A, which adds u / 2 (|A| |W|^T) |alpha|.
/// - Scales whose size is below 2^-124 count as 0. On GPUs, one that is less than 2^-80 times the
///   largest one before it in its row may count as 2^-80 times that; and a sum may overflow if it is
///   2^127 times a later scale, as that counts. An infinite scale gives infinity or NaN.
/// - Otherwise everything is as rung/gemm.hpp has it: layouts, alpha, beta, k = 0, overlap, threads.
///
/// Throws what gemm() throws; and rung::Error (Status::invalid_argument), before writing anything, if
/// the weights were not made by pack_weights(). options.compute_mode must be standard.
RUNG_API void gemm_weight_only(float alpha, const InputMatrix& a, const PackedWeights& weights,
                               float beta, const OutputMatrix& c, const GemmOptions& options = {});
/// The same on GPUs of sm_80 or later, under the rules of rung/cuda.hpp; A, C and the data of the
/// weights are in GPU memory. Throws Status::unavailable on other GPUs.
RUNG_API void gemm_weight_only(float alpha, const InputMatrix& a, const PackedWeights& weights,
                               float beta, const OutputMatrix& c, CudaStream stream,
                               const CudaOptions& options = {});

}  // namespace rung
