#include "vgpu/engine/numbers/small_floats.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace rung::vgpu {

namespace {

double rounded_to_integer(double x, Rounding rounding) {
  switch (rounding) {
    case Rounding::nearest: return std::nearbyint(x);
    case Rounding::zero: return std::trunc(x);
    case Rounding::down: return std::floor(x);
    case Rounding::up: return std::ceil(x);
    case Rounding::away: break;
  }
  return std::round(x);
}

/// The result of rounding a finite number that exceeds the range.
double overflowed(double x, const SmallFloat& format, Rounding rounding) {
  const bool stays = rounding == Rounding::zero || (rounding == Rounding::down && x > 0) ||
                     (rounding == Rounding::up && x < 0);
  return std::copysign(stays ? format.largest : std::numeric_limits<double>::infinity(), x);
}

double rounded(double x, const SmallFloat& format, Rounding rounding) {
  if (x == 0 || !std::isfinite(x)) return x;
  const int exponent = std::max(std::ilogb(x), format.min_exponent) - format.mantissa;
  const double integer = rounded_to_integer(std::scalbn(x, -exponent), rounding);
  const double result = std::copysign(std::scalbn(integer, exponent), x);
  return std::abs(result) > format.largest ? overflowed(x, format, rounding) : result;
}

int bits_without_sign(const SmallFloat& format) {
  const int exponent_bits = std::bit_width(static_cast<unsigned>(format.exponent_bias)) + 1;
  return exponent_bits + format.mantissa + format.spare;
}

/// The bits of a finite, representable magnitude.
std::uint32_t magnitude_bits(double x, const SmallFloat& format) {
  if (x == 0) return 0;
  const int exponent = std::max(std::ilogb(x), format.min_exponent);
  const auto significand = static_cast<std::uint32_t>(std::scalbn(x, format.mantissa - exponent));
  // Without the -1, the leading bit of a normal number would be added to the exponent field.
  // Subnormal numbers have no leading bit.
  const auto field = static_cast<std::uint32_t>(exponent + format.exponent_bias - 1);
  return (field << format.mantissa) + significand;
}

}  // namespace

std::uint32_t encode(double x, const SmallFloat& format, Rounding rounding, bool satfinite) {
  if (x != x) return format.nan;
  double value = rounded(x, format, rounding);
  if (satfinite && std::isinf(value)) value = std::copysign(format.largest, value);
  const std::uint32_t sign = std::signbit(value) ? 1u << bits_without_sign(format) : 0;
  if (!std::isinf(value)) return sign | magnitude_bits(std::abs(value), format) << format.spare;
  if (!format.has_infinity) return format.nan;
  const auto exponent = static_cast<std::uint32_t>(2 * format.exponent_bias + 1);
  return sign | exponent << (format.mantissa + format.spare);
}

double decode(std::uint32_t bits, const SmallFloat& format) {
  const std::uint32_t magnitude = (bits & ((1u << bits_without_sign(format)) - 1)) >> format.spare;
  const bool negative = (bits >> bits_without_sign(format) & 1) != 0;
  const auto exponent = static_cast<int>(magnitude >> format.mantissa);
  const std::uint32_t fraction = magnitude & ((1u << format.mantissa) - 1);
  double value;
  if (format.has_infinity && exponent == 2 * format.exponent_bias + 1) {
    value = fraction == 0 ? std::numeric_limits<double>::infinity()
                          : std::numeric_limits<double>::quiet_NaN();
  } else if (!format.has_infinity && magnitude == format.nan) {
    value = std::numeric_limits<double>::quiet_NaN();
  } else {
    const std::uint32_t leading = exponent == 0 ? 0 : 1u << format.mantissa;
    value = std::scalbn(leading | fraction,
                        std::max(exponent, 1) - format.exponent_bias - format.mantissa);
  }
  return negative ? -value : value;
}

double odd_double(std::uint64_t magnitude) {
  if (magnitude >> 53 == 0) return static_cast<double>(magnitude);
  const std::uint64_t kept = magnitude >> 11 | ((magnitude & 0x7FF) != 0 ? 1 : 0);
  return std::scalbn(static_cast<double>(kept), 11);
}

}  // namespace rung::vgpu
