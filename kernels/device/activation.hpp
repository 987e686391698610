#pragma once
// Activations in float, for CPUs and GPUs: functions of two primitives, which each device has its own
// of. Math::exp2(x) is 2^x, and Math::reciprocal(x) is 1 / x, each with a relative error of a few 2^-24.

#include "rung/epilogue_kinds.hpp"

namespace rung {

template <class Math>
struct Activations {
  static constexpr float relu(float x) { return x < 0.0f ? 0.0f : x; }

  /// 1 + 2^exponent, by which x is divided. From 2^31 on, the quotient is nothing beside x; a NaN becomes
  /// that, so that it spoils no quotient but its own.
  static constexpr float divisor(float exponent) {
    return 1.0f + Math::exp2(exponent < 31.0f ? exponent : 31.0f);
  }
  static constexpr float silu_exponent(float x) { return -1.4426950408889634f * x; }
  /// (1 + tanh(y)) / 2 is 1 / (1 + exp(-2 y)).
  static constexpr float gelu_tanh_exponent(float x) {
    constexpr float linear = -2.302208198144325f;  // -2 log2(e) sqrt(2 / pi)
    constexpr float cubic = -0.1029432396780925f;  // and times 0.044715
    return x * (linear + cubic * (x * x));
  }
  static constexpr float silu(float x) { return x * Math::reciprocal(divisor(silu_exponent(x))); }
  static constexpr float gelu_tanh(float x) {
    return x * Math::reciprocal(divisor(gelu_tanh_exponent(x)));
  }

  /// Divides four numbers by numbers from 1 to 2^31, with one reciprocal for all.
  static constexpr void divide(float (&x)[4], const float (&by)[4]) {
    const float first = by[0] * by[1], second = by[2] * by[3];
    const float of_all = Math::reciprocal(first * second);
    const float of_first = of_all * second, of_second = of_all * first;
    x[0] *= of_first * by[1];
    x[1] *= of_first * by[0];
    x[2] *= of_second * by[3];
    x[3] *= of_second * by[2];
  }

  /// x times the normal distribution function, by 7.1.26 of Abramowitz and Stegun, Handbook of
  /// Mathematical Functions, whose error is at most 1.5e-7.
  static constexpr float gelu_erf(float x) {
    const float z = (x < 0.0f ? -x : x) * 0.7071067811865476f;
    const float t = Math::reciprocal(1.0f + 0.3275911f * z);
    const float tail =
        t * (0.127414796f +
             t * (-0.142248368f + t * (0.7107068705f + t * (-0.7265760135f + t * 0.5307027145f))));
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
