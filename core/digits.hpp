#pragma once
// Conversion of floats to integers of three 8-bit digits, for mode reproducible (docs/accuracy.md).
// CPUs and GPUs call the same functions and therefore compute the same bits. All are constexpr so
// that device code can call them.
//
// An element of a row of A or a column of B is rounded to q 2^unit, with one unit for the whole row
// or column and |q| < 2^23. q = d0 2^16 + d1 2^8 + d2 with signed 8-bit digits.

#include <cstdint>

namespace rung::digits {

/// The number of k-steps for which sums of products of digits are exact in 32 bits. Longer products
/// are divided into slabs of this length, which are added to C one by one.
inline constexpr std::int64_t slab = 32768;

/// The number of digits, and of bins in which their products are summed: the product of digits i
/// and j belongs to bin i + j. Bins 3 and 4 are omitted.
inline constexpr int count = 3;

struct Digits {
  std::int8_t at[count];
};

inline constexpr std::uint32_t infinity_bits = 0x7F800000;

constexpr std::uint32_t magnitude_bits(float x) {
  return __builtin_bit_cast(std::uint32_t, x) & 0x7FFFFFFF;
}

/// x 2^exponent for exponents in [-252, 254]. Multiplies twice, because 2^exponent itself may not
/// be representable.
constexpr float scaled(float x, int exponent) {
  const int first = exponent / 2;
  const auto power = [](int e) {
    return __builtin_bit_cast(float, static_cast<std::uint32_t>(e + 127) << 23);
  };
  return x * power(first) * power(exponent - first);
}

/// Rounds to nearest, ties to even, for |x| < 2^24.
constexpr std::int32_t rounded(float x) {
  // Uses only comparisons: compilers could contract a subtraction with the multiplication that
  // produced x.
  const auto halves = static_cast<std::int32_t>(2 * x);
  const std::int32_t whole = halves / 2;
  const bool is_tie = halves % 2 != 0 && static_cast<float>(halves) == 2 * x;
  const bool away = is_tie ? whole % 2 != 0 : halves % 2 != 0;
  return away ? (x < 0 ? whole - 1 : whole + 1) : whole;
}

/// The unit of a row or column, given the bits of its largest magnitude, which must be finite.
constexpr int unit_of(std::uint32_t largest) {
  constexpr std::int32_t most = 0x7F7F7F;  // 127 in each digit
  const auto biased = static_cast<int>(largest >> 23);
  const int unit = (biased == 0 ? 1 : biased) - 127 - 22;
  const float x = __builtin_bit_cast(float, largest);
  return rounded(scaled(x, -unit)) > most ? unit + 1 : unit;
}

/// The integer q of an element.
constexpr std::int32_t integer_of(float x, int unit) { return rounded(scaled(x, -unit)); }

constexpr Digits digits_of(std::int32_t q) {
  const auto low = [](std::int32_t x) { return ((x + 128) & 255) - 128; };
  const std::int32_t d2 = low(q);
  const std::int32_t upper = (q - d2) / 256;
  const std::int32_t d1 = low(upper);
  return {{static_cast<std::int8_t>((upper - d1) / 256), static_cast<std::int8_t>(d1),
           static_cast<std::int8_t>(d2)}};
}

/// The square of an element's integer, scaled down by 2^20: its contribution to the norm of its row
/// or column.
constexpr std::int64_t square_of(std::int32_t q) {
  const std::int64_t upper = (q < 0 ? -q : q) >> 10;
  return upper * upper;
}

/// True if digits are accurate enough for a row or column of k elements with this largest magnitude
/// and sum of squares, which holds if the largest element is at most eight times the root mean
/// square. Then |error| <= 560 u ||row|| ||column||.
constexpr bool fit(std::uint32_t largest, std::int64_t squares, std::int64_t k) {
  constexpr std::int64_t least_mean = std::int64_t{1} << 18;
  return largest == 0 || (largest < infinity_bits && squares >= k * least_mean);
}

/// The sum of the bins in units of 2^16, rounded to float.
constexpr float sum_of(std::int32_t bin0, std::int32_t bin1, std::int32_t bin2) {
  return static_cast<float>(std::int64_t{bin0} * 65536 + std::int64_t{bin1} * 256 + bin2);
}

/// Converts a sum in integer units to the units of the operands.
constexpr float in_units(float sum, int unit_a, int unit_b) {
  const int exponent = unit_a + unit_b + 16;
  return scaled(sum, exponent < -252 ? -252 : exponent);
}

}  // namespace rung::digits
