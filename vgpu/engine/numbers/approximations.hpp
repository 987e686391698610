#pragma once
// sin, cos, lg2, ex2 and tanh of f32 in double precision, far more exact than the rounding to f32
// needs. Each is a fixed sequence of IEEE operations without branches: compilers vectorize it, and
// the result does not depend on the instruction set, the C library or the other lanes. Only ex2
// uses FMAs, because a CPU without FMA would have to emulate them.

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include "vgpu/engine/numbers/float_bits.hpp"
#include "vgpu/engine/numbers/power_of_two.hpp"

namespace rung::vgpu::approximations {

/// A small number rounded to the nearest integer, which is also available in the low bits of `sum`.
struct Whole {
  explicit Whole(double x) : sum(x + magic) {}
  double number() const { return sum - magic; }
  std::uint64_t low_bits() const { return bits_of(sum); }

  static constexpr double magic = 0x1.8p52;
  double sum;
};

constexpr int significand_bits = 52;

/// 2^n.
inline double power(const Whole& n) {
  return std::bit_cast<double>((n.low_bits() << significand_bits) + bits_of(1.0));
}

/// Horner's rule, with `step(sum, x, coefficient)`. Unrolled, because GCC does not vectorize
/// callers of a function with a loop.
template <std::size_t count, class Step>
inline double horner(const std::array<double, count>& coefficients, double x, const Step& step) {
  double sum = coefficients[count - 1];
  [&]<std::size_t... k>(std::index_sequence<k...>) {
    ((sum = step(sum, x, coefficients[count - 2 - k])), ...);
  }(std::make_index_sequence<count - 1>());
  return sum;
}
template <std::size_t count>
inline double polynomial(const std::array<double, count>& coefficients, double x) {
  return horner(coefficients, x, [](double sum, double by, double c) { return sum * by + c; });
}
template <std::size_t count>
inline double fused_polynomial(const std::array<double, count>& coefficients, double x) {
  return horner(coefficients, x,
                [](double sum, double by, double c) { return std::fma(sum, by, c); });
}

/// 2^x for all x: beyond the range of PowerOfTwo, results are infinite or zero in f32 as well.
struct Exp2 {
  static double of(double x) {
    const double above = x < PowerOfTwo::low ? PowerOfTwo::low : x;
    const double inside = above > PowerOfTwo::high ? PowerOfTwo::high : above;
    const Whole whole(inside);
    const double rest = inside - whole.number();
    const double sum = fused_polynomial(PowerOfTwo::coefficients, rest);
    return x == x ? sum * power(whole) : x;
  }
};

/// log2 of numbers that are exact in f32. x = 2^e m with m in [sqrt(1/2), sqrt(2)), and log(m) = 2
/// artanh((m - 1) / (m + 1)), by its series.
struct Log2 {
  static double of(double x) {
    constexpr double lowest = 0x1.6a09e667f3bcdp-1;  // sqrt(1/2)
    constexpr std::uint64_t significand = (std::uint64_t{1} << significand_bits) - 1;
    constexpr double two_52 = 0x1p52, bias = 1023;
    /// 2 / log(2) / (2 k + 1)
    constexpr std::array<double, 11> series = {
        0x1.71547652b82fep+1, 0x1.ec709dc3a03fdp-1, 0x1.2776c50ef9bfep-1, 0x1.a61762a7aded9p-2,
        0x1.484b13d7c02a9p-2, 0x1.0c9a84994022dp-2, 0x1.c68f568d31760p-3, 0x1.89f3b1694cffep-3,
        0x1.5b9ac9b743f0dp-3, 0x1.3703c1f4d0ffep-3, 0x1.1964ec6fc9491p-3};
    const std::uint64_t shifted = bits_of(x) + (bits_of(1.0) - bits_of(lowest));
    const double m = std::bit_cast<double>((shifted & significand) + bits_of(lowest));
    const double e =
        std::bit_cast<double>(shifted >> significand_bits | bits_of(two_52)) - (two_52 + bias);
    const double s = (m - 1) / (m + 1);
    const double logarithm = e + s * polynomial(series, s * s);
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const double above_zero = x == infinity ? x : logarithm;
    const double result = x == 0 ? -infinity : above_zero;
    return x >= 0 ? result : std::numeric_limits<double>::quiet_NaN();
  }
};

template <std::size_t count>
constexpr std::array<double, count - 1> without_first(const std::array<double, count>& all) {
  std::array<double, count - 1> rest{};
  for (std::size_t k = 1; k < count; ++k) rest[k - 1] = all[k];
  return rest;
}

/// tanh(x) = E / (E + 2) with E = exp(2 x) - 1 = 2^n (2^f - 1) + (2^n - 1), which is accurate near
/// 0.
struct Tanh {
  static double of(double x) {
    constexpr double two_log2_e = 0x1.71547652b82fep+1;
    constexpr double enough = 20;  // the result is 1 from here on
    constexpr auto terms = without_first(PowerOfTwo::coefficients);
    const double a = magnitude(x);
    const double exponent = (a < enough ? a : enough) * two_log2_e;
    const Whole n(exponent);
    const double f = exponent - n.number();
    const double scale = power(n);
    const double e = scale * (polynomial(terms, f) * f) + (scale - 1);
    const double result =
        std::bit_cast<double>(bits_of(e / (e + 2)) | (bits_of(x) & sign_bit<double>));
    return x == x ? result : x;
  }
};

/// sin(x + quarters pi / 2) for |x| up to `limit`, by the Taylor series of sine and cosine around
/// the nearest multiple of pi / 2.
template <unsigned quarters>
struct Circular {
  static constexpr float limit = 0x1p16f;

  static double of(double x) {
    // pi / 2 in three parts. The first two have 33 bits, so their products with `count` are exact.
    constexpr double two_over_pi = 0x1.45f306dc9c883p-1, first = 0x1.921fb544p+0,
                     second = 0x1.0b4611a6p-34, third = 0x1.3198a2e037073p-69;
    constexpr std::array<double, 8> sine = {0x1.0000000000000p+0,  -0x1.5555555555555p-3,
                                            0x1.1111111111111p-7,  -0x1.a01a01a01a01ap-13,
                                            0x1.71de3a556c734p-19, -0x1.ae64567f544e4p-26,
                                            0x1.6124613a86d09p-33, -0x1.ae7f3e733b81fp-41};
    constexpr std::array<double, 8> cosine = {0x1.0000000000000p+0,  -0x1.0000000000000p-1,
                                              0x1.5555555555555p-5,  -0x1.6c16c16c16c17p-10,
                                              0x1.a01a01a01a01ap-16, -0x1.27e4fb7789f5cp-22,
                                              0x1.1eed8eff8d898p-29, -0x1.93974a8c07c9dp-37};
    const Whole whole(x * two_over_pi);
    const double count = whole.number();
    const double rest = x - count * first - count * second - count * third;
    const double square = rest * rest;
    const std::uint64_t quadrant = whole.low_bits() + quarters;
    const double result =
        (quadrant & 1) != 0 ? polynomial(cosine, square) : rest * polynomial(sine, square);
    return std::bit_cast<double>(bits_of(result) ^ (quadrant & 2) << 62);
  }
};
struct Sine : Circular<0> {
  static double beyond_limit(double x) { return std::sin(x); }
};
struct Cosine : Circular<1> {
  static double beyond_limit(double x) { return std::cos(x); }
};

}  // namespace rung::vgpu::approximations
