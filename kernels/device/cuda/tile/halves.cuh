#pragma once
// Splits a float into a sum of two float16 halves, and scales by powers of two.

#include <cstdint>

#include "device/cuda/keywords.cuh"
#include "device/cuda/library/split_operand.hpp"
#include "device/cuda/ptx/basic.cuh"
#include "device/cuda/types.cuh"

namespace rung::cuda {

inline constexpr unsigned infinity_bits = 0x7F800000;

#ifdef RUNG_HOST

// Only declared for kernel templates; the host never calls it.
float scaled(float x, int exponent);

#else

/// x * 2^exponent for exponents in [-252, 254]. Multiplies twice, because 2^exponent itself may not
/// be representable.
__device__ __forceinline__ float scaled(float x, int exponent) {
  const int first = exponent / 2;
  const auto power = [](int e) {
    return ptx::mov_f32_b32(static_cast<std::uint32_t>(e + 127) << 23);
  };
  return x * power(first) * power(exponent - first);
}

/// Running sums over the elements of a row or column; the first two are sums of squares. See
/// OperandScale.
struct LineSums {
  float loss, elements, large;
};

/// The scaling of a row or column, given the bits of its largest magnitude.
class HalfScale {
 public:
  __device__ __forceinline__ explicit HalfScale(unsigned largest)
      : largest_(largest), exponent_(static_cast<int>(largest >> 23) - 127 - 14) {
    if (exponent_ < -126 - 14) exponent_ = -126 - 14;  // subnormal
  }

  /// Splits x * 2^-exponent into high + low, approximately, and updates the sums.
  __device__ __forceinline__ void split(float x, float16& high, float16& low,
                                        LineSums& sums) const {
    const float value = is_finite() ? scaled(x, -exponent_) : 0.0f;
    high = float16(value);
    const float rest = value - static_cast<float>(high);  // exact
    low = float16(rest);
    sums.elements += value * value;
    sums.large += __builtin_fabsf(value) >= 0x1p10f ? 1.0f : 0.0f;
    const float lost = __builtin_fabsf(rest - static_cast<float>(low));
    const bool vanished = value == 0 && x != 0;
    const bool counts = lost * 0x1p23f > __builtin_fabsf(value) || vanished;
    // Adding 2^-60 covers the rounding of scaling, and its square is not subnormal.
    const float loss = counts ? lost + 0x1p-60f : 0.0f;
    sums.loss += loss * loss;
  }

  __device__ __forceinline__ OperandScale scale(const LineSums& sums) const {
    if (!is_finite()) return {exponent_, ptx::mov_f32_b32(largest_), 1.0f, 0.0f};
    return {exponent_, __builtin_sqrtf(sums.loss), __builtin_sqrtf(sums.elements), sums.large};
  }

 private:
  __device__ __forceinline__ bool is_finite() const { return largest_ < infinity_bits; }

  unsigned largest_;
  int exponent_;
};

#endif

}  // namespace rung::cuda
