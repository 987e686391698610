#pragma once
// Narrow floating-point formats from their definition, and rounding to them by a search among their
// numbers: slow, but independent of the engine.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace rung::vgpu::lanes {

using H = std::uint16_t;
using U = std::uint32_t;

/// A format, and the values of its bit patterns, computed from the definition.
struct Format {
  const char* name;
  int exponent_bits, mantissa_bits;
  bool has_infinity;

  int sign_at() const { return exponent_bits + mantissa_bits; }
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  U infinity() const { return ((1u << exponent_bits) - 1) << mantissa_bits; }
  /// The largest finite pattern.
  U largest() const { return has_infinity ? infinity() - 1 : (1u << sign_at()) - 2; }
  U nan() const { return (1u << sign_at()) - 1; }

  long double value(U pattern) const {
    const U magnitude = pattern & ((1u << sign_at()) - 1);
    const int exponent = static_cast<int>(magnitude >> mantissa_bits);
    const auto fraction = static_cast<long double>(magnitude & ((1u << mantissa_bits) - 1));
    const long double significand =
        std::ldexp(fraction, -mantissa_bits) + (exponent == 0 ? 0.0L : 1.0L);
    const long double x = std::ldexp(significand, std::max(exponent, 1) - bias());
    return (pattern >> sign_at() & 1) != 0 ? -x : x;
  }
  bool is_nan(U pattern) const {
    const U magnitude = pattern & ((1u << sign_at()) - 1);
    return has_infinity ? magnitude > infinity() : magnitude == nan();
  }
  long double number(U pattern) const {
    if (is_nan(pattern)) return NAN;
    const U magnitude = pattern & ((1u << sign_at()) - 1);
    if (has_infinity && magnitude == infinity()) return value(pattern) > 0 ? INFINITY : -INFINITY;
    return value(pattern);
  }
};

inline constexpr Format f16{"f16", 5, 10, true};
inline constexpr Format bf16{"bf16", 8, 7, true};
inline constexpr Format e4m3{"e4m3", 4, 3, false};
inline constexpr Format e5m2{"e5m2", 5, 2, true};

/// The largest pattern whose value is not above a positive magnitude, by bisection.
inline U pattern_below(const Format& format, long double magnitude) {
  U low = 0, high = format.largest();
  while (low < high) {
    const U middle = (low + high + 1) / 2;
    if (format.value(middle) <= magnitude) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

enum class Round { nearest, zero, down, up };

/// The pattern of a rounded number, with overflow as in IEEE 754. `sticky`: the sign of the exact
/// value minus x.
inline U rounded(const Format& format, long double x, Round mode, int sticky = 0) {
  if (x != x) return format.nan();
  const U sign = std::signbit(x) ? 1u << format.sign_at() : 0;
  const U infinity = format.has_infinity ? format.infinity() : format.nan();
  if (std::isinf(x)) return sign | infinity;
  const long double magnitude = std::abs(x);
  const int beyond = std::signbit(x) ? -sticky : sticky;
  U below = pattern_below(format, magnitude);
  const long double low = format.value(below);
  if (magnitude == low && beyond == 0) return sign | below;
  if (magnitude == low && beyond < 0) --below;
  // One step above the largest number represents infinity, with the value it would have in a larger
  // range.
  const long double step = format.value(below) - (below == 0 ? 0 : format.value(below - 1));
  const U above = below == format.largest() ? infinity : below + 1;
  const long double high =
      below == format.largest() ? format.value(below) + step : format.value(below + 1);
  const bool away = mode == Round::up ? sign == 0 : mode == Round::down && sign != 0;
  if (mode != Round::nearest) return sign | (away ? above : below);
  const long double to_low = magnitude - format.value(below), to_high = high - magnitude;
  if (to_low != to_high) return sign | (to_low < to_high ? below : above);
  if (beyond != 0) return sign | (beyond < 0 ? below : above);
  return sign | ((below & 1) == 0 ? below : above);
}

inline std::vector<U> patterns(const Format& format) {
  std::vector<U> values = {0,
                           1,
                           2,
                           3,
                           format.infinity(),
                           format.infinity() - 1,
                           format.nan(),
                           1u << format.mantissa_bits,
                           (1u << format.mantissa_bits) - 1};
  const U one = static_cast<U>(format.bias()) << format.mantissa_bits;
  for (const U offset : {0u, 1u, 2u, 3u, 0x1FFu, 0x355u}) values.push_back(one + offset);
  std::mt19937 random(5);
  for (int i = 0; i < 24; ++i) values.push_back(random() % (format.infinity() + 1));
  for (std::size_t i = 0, count = values.size(); i < count; ++i) {
    values.push_back(values[i] | 1u << format.sign_at());
  }
  return values;
}

}  // namespace rung::vgpu::lanes
