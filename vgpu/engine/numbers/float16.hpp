#pragma once
// f16 and bf16 computed in f32, in forms that compilers vectorize. The sum, difference and product
// of two numbers of p bits are correctly rounded if they are computed with at least 2p + 2 bits and
// rounded again: f32 has 24 bits, f16 11 and bf16 8 (Figueroa, "When is double rounding
// innocuous?", 1995).

#include <bit>
#include <cmath>
#include <cstdint>

#include "vgpu/engine/lanes/lane_types.hpp"
#include "vgpu/engine/numbers/float_bits.hpp"

namespace rung::vgpu {

/// Rounds to odd: an inexact result gets an odd last bit, so that rounding it again to fewer bits
/// is correct (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008). `error`
/// is the exact value minus `nearest`. A result that underflowed to zero stays zero, because the
/// second rounding would return zero as well.
template <class T>
inline T rounded_to_odd(T nearest, T error) {
  using Bits = BitsOf<T>;
  const Bits bits = bits_of(nearest);
  // The exact value has the larger magnitude if the error and the result have the same sign.
  const Bits toward_zero = (bits_of(error) ^ bits) >> (sizeof(T) * 8 - 1);
  const Bits step = Bits{1} - 2 * toward_zero;
  const Bits inexact = static_cast<Bits>(error != 0) & static_cast<Bits>(nearest != 0);
  return std::bit_cast<T>(bits + (step & (Bits{0} - (inexact & ~bits & 1))));
}

/// a + b rounded to odd, from an exact sum (Knuth's TwoSum).
template <class T>
inline T sum_to_odd(T a, T b) {
  const T sum = a + b;
  const T b_part = sum - a;
  const T error = (a - (sum - b_part)) + (b - b_part);
  return rounded_to_odd(sum, error == error ? error : T{0});  // NaN if the sum is not finite
}

struct F16 {
  using Lane = Half;
  static constexpr std::uint16_t infinity = 0x7C00, nan = 0x7FFF;

  static float number(Half half) {
    const std::uint32_t bits = half.bits;
    const std::uint32_t magnitude = (bits & 0x7FFF) << 13;
    // Rebiases the exponent, also of subnormal numbers.
    const std::uint32_t finite = bits_of(std::bit_cast<float>(magnitude) * 0x1p112f);
    const std::uint32_t not_finite = magnitude | 0x7F800000u;
    const std::uint32_t value = (bits & 0x7C00) == 0x7C00 ? not_finite : finite;
    return std::bit_cast<float>(value | (bits & 0x8000) << 16);
  }

  /// Rounds to nearest even.
  static Half nearest(float x) {
    const std::uint32_t sign = bits_of(x) >> 16 & 0x8000;
    const std::uint32_t bits = bits_of(x) & 0x7FFFFFFFu;
    // Adding 0.5 aligns the last bit of a subnormal half with the last bit of the sum.
    const std::uint32_t subnormal = bits_of(std::bit_cast<float>(bits) + 0.5f) - bits_of(0.5f);
    const std::uint32_t normal = (bits + 0xFFF + (bits >> 13 & 1) - (112u << 23)) >> 13;
    const std::uint32_t finite = bits < bits_of(0x1p-14f) ? subnormal : normal;
    const std::uint32_t value = bits >= bits_of(65520.0f) ? 0x7C00 : finite;
    return {static_cast<std::uint16_t>(bits > 0x7F800000u ? nan : value | sign)};
  }

  /// a * b is exact in f32.
  static float fma(float a, float b, float c) { return sum_to_odd(a * b, c); }

  static Half flushed(Half half) {
    const bool tiny = (half.bits & 0x7C00) == 0;
    return {static_cast<std::uint16_t>(tiny ? half.bits & 0x8000 : half.bits)};
  }
};

struct BF16 {
  using Lane = Bfloat;
  static constexpr std::uint16_t infinity = 0x7F80, nan = 0x7FFF;

  static float number(Bfloat bfloat) {
    return std::bit_cast<float>(std::uint32_t{bfloat.bits} << 16);
  }

  /// Rounds to nearest even.
  static Bfloat nearest(float x) {
    const std::uint32_t bits = bits_of(x);
    const std::uint32_t rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
    return {static_cast<std::uint16_t>(x == x ? rounded : nan)};
  }

  /// The product needs the exponent range of f64. Rounds to odd twice: to f64, then to f32.
  static float fma(float a, float b, float c) {
    const double sum = sum_to_odd(static_cast<double>(a) * b, static_cast<double>(c));
    const float nearest = static_cast<float>(sum);
    const double error = sum - static_cast<double>(nearest);
    return rounded_to_odd(nearest, error > 0 ? 1.0f : error < 0 ? -1.0f : 0.0f);
  }

  static Bfloat flushed(Bfloat bfloat) { return bfloat; }
};

template <class F>
constexpr const char* half_name = std::is_same_v<F, F16> ? "f16" : "bf16";
template <class F>
constexpr ptx::Type half_pair_type = std::is_same_v<F, F16> ? ptx::Type::f16x2 : ptx::Type::bf16x2;

template <class F, bool ftz>
inline float half_input(typename F::Lane x) {
  if constexpr (ftz) return F::number(F::flushed(x));
  return F::number(x);
}

}  // namespace rung::vgpu
