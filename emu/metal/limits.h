#pragma once
// <metal_limits>

namespace metal {
namespace rung_detail {

template <class T>
struct IntegerLimits {
  static constexpr bool is_specialized = true, is_integer = true, is_exact = true;
  static constexpr bool is_signed = T(-1) < T(0);
  static constexpr bool has_infinity = false, has_quiet_NaN = false;
  static constexpr int digits = static_cast<int>(sizeof(T) * 8) - (is_signed ? 1 : 0);
  static constexpr T max() { return static_cast<T>(~0ul >> (64 - digits)); }
  static constexpr T min() { return is_signed ? static_cast<T>(-max() - 1) : T(0); }
  static constexpr T lowest() { return min(); }
  static constexpr T epsilon() { return 0; }
  static constexpr T infinity() { return 0; }
  static constexpr T quiet_NaN() { return 0; }
};

template <class T, int Digits, int MaxExponent>
struct FloatLimits {
  static constexpr bool is_specialized = true, is_integer = false, is_exact = false;
  static constexpr bool is_signed = true, has_infinity = true, has_quiet_NaN = true;
  static constexpr int digits = Digits, max_exponent = MaxExponent, radix = 2;
  static constexpr int min_exponent = 3 - MaxExponent;
  static constexpr T infinity() { return static_cast<T>(__builtin_huge_valf()); }
  static constexpr T quiet_NaN() { return static_cast<T>(__builtin_nanf("")); }
  static constexpr T signaling_NaN() { return quiet_NaN(); }
};

}  // namespace rung_detail

/// Apple's name for what programs specialize for their own types.
template <class T>
struct _numeric_limits_impl;
template <class T>
struct numeric_limits : _numeric_limits_impl<remove_cv_t<T>> {};

#define RUNG_METAL_LIMITS(T) \
  template <>                \
  struct _numeric_limits_impl<T> : rung_detail::IntegerLimits<T> {};
RUNG_METAL_LIMITS(char)
RUNG_METAL_LIMITS(signed char)
RUNG_METAL_LIMITS(uchar)
RUNG_METAL_LIMITS(short)
RUNG_METAL_LIMITS(ushort)
RUNG_METAL_LIMITS(int)
RUNG_METAL_LIMITS(uint)
RUNG_METAL_LIMITS(long)
RUNG_METAL_LIMITS(ulong)
RUNG_METAL_LIMITS(long long)
RUNG_METAL_LIMITS(unsigned long long)
#undef RUNG_METAL_LIMITS
template <>
struct _numeric_limits_impl<bool> : rung_detail::IntegerLimits<uchar> {
  static constexpr int digits = 1;
  static constexpr bool min() { return false; }
  static constexpr bool max() { return true; }
  static constexpr bool lowest() { return false; }
};

#define RUNG_METAL_LIMITS(T, digits, exponent, least, most, step)                  \
  template <>                                                                      \
  struct _numeric_limits_impl<T> : rung_detail::FloatLimits<T, digits, exponent> { \
    static constexpr T min() { return static_cast<T>(least); }                     \
    static constexpr T max() { return static_cast<T>(most); }                      \
    static constexpr T lowest() { return static_cast<T>(-most); }                  \
    static constexpr T epsilon() { return static_cast<T>(step); }                  \
  };
RUNG_METAL_LIMITS(float, 24, 128, 0x1p-126f, 0x1.fffffep127f, 0x1p-23f)
RUNG_METAL_LIMITS(half, 11, 16, 0x1p-14f, 65504.0f, 0x1p-10f)
RUNG_METAL_LIMITS(bfloat, 8, 128, 0x1p-126f, 0x1.fep127f, 0x1p-7f)
#undef RUNG_METAL_LIMITS

}  // namespace metal
