#pragma once
// Activations: constants of their formulas, and for GPUs the formulas in float. CPUs evaluate the
// same formulas with vectors (device/cpu/activate.cpp).

#include "rung/epilogue_kinds.hpp"

namespace rung {

/// silu is x / (1 + 2^y) with y = x (linear + cubic x^2). gelu_tanh has the same form, because (1 +
/// tanh(z)) / 2 = 1 / (1 + exp(-2 z)).
struct SmoothStep {
  double linear, cubic;
};
inline constexpr SmoothStep silu_step = {-1.4426950408889634, 0};  // -log2(e)
/// -2 log2(e) sqrt(2 / pi), and 0.044715 times that.
inline constexpr SmoothStep gelu_tanh_step = {-2.302208198144325, -0.1029432395800235};

/// gelu_erf is x times the normal distribution function, approximated by formula 7.1.26 of
/// Abramowitz and Stegun, Handbook of Mathematical Functions, with an error of at most 1.5e-7: 1 -
/// erf(z) is exp(-z^2) times a polynomial in t = 1 / (1 + p z) without a constant term. The
/// coefficients are halved.
struct ErfTail {
  double p = 0.3275911;
  double coefficients[5] = {0.127414796, -0.142248368, 0.7107068705, -0.7265760135, 0.5307027145};
};
inline constexpr ErfTail erf_tail;

/// Activations in terms of two primitives. Math::exp2(x) returns 2^x, and Math::reciprocal(x)
/// returns 1 / x, each with a relative error of a few 2^-24.
template <class Math>
struct Activations {
  static constexpr float relu(float x) { return x < 0.0f ? 0.0f : x; }

  /// 1 + 2^exponent, the divisor of x. The exponent is clamped to 31, beyond which the quotient is
  /// negligible relative to x. NaN is clamped, too, so that in divide() it does not spoil other
  /// quotients.
  static constexpr float divisor(float exponent) {
    return 1.0f + Math::exp2(exponent < 31.0f ? exponent : 31.0f);
  }
  static constexpr float silu_exponent(float x) {
    constexpr auto linear = static_cast<float>(silu_step.linear);
    return linear * x;
  }
  static constexpr float gelu_tanh_exponent(float x) {
    constexpr auto linear = static_cast<float>(gelu_tanh_step.linear);
    constexpr auto cubic = static_cast<float>(gelu_tanh_step.cubic);
    return x * (linear + cubic * (x * x));
  }
  static constexpr float silu(float x) { return x * Math::reciprocal(divisor(silu_exponent(x))); }
  static constexpr float gelu_tanh(float x) {
    return x * Math::reciprocal(divisor(gelu_tanh_exponent(x)));
  }

  /// Divides four numbers by four divisors in [1, 2^31], using one reciprocal.
  static constexpr void divide(float (&x)[4], const float (&by)[4]) {
    const float first = by[0] * by[1], second = by[2] * by[3];
    const float of_all = Math::reciprocal(first * second);
    const float of_first = of_all * second, of_second = of_all * first;
    x[0] *= of_first * by[1];
    x[1] *= of_first * by[0];
    x[2] *= of_second * by[3];
    x[3] *= of_second * by[2];
  }

  static constexpr float gelu_erf(float x) {
    constexpr auto p = static_cast<float>(erf_tail.p);
    constexpr auto c0 = static_cast<float>(erf_tail.coefficients[0]);
    constexpr auto c1 = static_cast<float>(erf_tail.coefficients[1]);
    constexpr auto c2 = static_cast<float>(erf_tail.coefficients[2]);
    constexpr auto c3 = static_cast<float>(erf_tail.coefficients[3]);
    constexpr auto c4 = static_cast<float>(erf_tail.coefficients[4]);
    const float z = (x < 0.0f ? -x : x) * 0.7071067811865476f;
    const float t = Math::reciprocal(1.0f + p * z);
    const float tail = t * (c0 + t * (c1 + t * (c2 + t * (c3 + t * c4))));
    const float exponent = -1.4426950408889634f * (z * z);
    const float beyond = tail * Math::exp2(exponent < -126.0f ? -126.0f : exponent);
    return x * (x < 0.0f ? beyond : 1.0f - beyond);
  }

  static constexpr float of(Activation activation, float x) {
    switch (activation) {
      case Activation::relu: return relu(x);
      case Activation::gelu_tanh: return gelu_tanh(x);
      case Activation::gelu_erf: return gelu_erf(x);
      case Activation::silu: return silu(x);
      default: return x;
    }
  }
};

}  // namespace rung
