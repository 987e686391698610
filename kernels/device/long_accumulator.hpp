#pragma once
// Exact summation. Integer addition is associative, so a sum kept in integers has the same bits for
// any order of the terms, any number of threads and any device. CPU and GPU rungs share this file.
//
// This is the long accumulator of Kulisch and Snyder ("The exact dot product as basic tool for long
// interval arithmetic", Computing 91, 2011): fixed point, wide enough for 2^63 products of any two
// elements. It has 32-bit digits in 64-bit words, so that 2^30 terms can be added before carries
// must be propagated (Neal, "Fast exact summation using small and large superaccumulators",
// arXiv:1505.05571, 2015).

#include <cstdint>

namespace rung {

/// Parameters of an IEEE 754 format.
template <class T>
struct FloatFormat;
template <>
struct FloatFormat<float> {
  using Bits = std::uint32_t;
  static constexpr int precision = 24;       // bits, including the implicit one
  static constexpr int min_exponent = -149;  // last bit of the smallest subnormal number
  static constexpr int max_exponent = 128;   // smallest power of two that overflows
};
template <>
struct FloatFormat<double> {
  using Bits = std::uint64_t;
  static constexpr int precision = 53;
  static constexpr int min_exponent = -1074;
  static constexpr int max_exponent = 1024;
};

/// Accumulates products of elements that fit in T, which is float or double. The caller owns the
/// words: an array of int64, initially 0; two such arrays can be added word by word. Every function
/// that adds terms calls add(word, amount) for each word that changes. For a single thread, add
/// performs +=; for several threads, an atomic addition.
template <class T>
struct LongAccumulator {
  using Format = FloatFormat<T>;

  // The last bit of a double whose leading bit is that of the smallest product.
  static constexpr int lowest = 2 * Format::min_exponent - 52;
  static constexpr int digits = (2 * Format::max_exponent + 64 - lowest + 31) / 32;

  // After the digits: counts of terms that were NaN, infinity and -infinity.
  static constexpr int nan = digits, infinity = digits + 1, minus_infinity = digits + 2;
  static constexpr int words = digits + 3;

  static constexpr std::int64_t digit_mask = 0xffffffff;

  /// A double as magnitude * 2^exponent.
  struct Parts {
    bool negative, finite;
    std::uint64_t magnitude;
    int exponent;
  };
  static constexpr Parts parts_of(double value) {
    const auto bits = __builtin_bit_cast(std::uint64_t, value);
    const int field = static_cast<int>(bits >> 52 & 0x7ff);
    const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
    return {bits >> 63 != 0, field != 0x7ff,
            field == 0 ? fraction : fraction | std::uint64_t{1} << 52,
            (field == 0 ? 1 : field) - 1075};
  }

  /// Adds +-magnitude * 2^exponent; exponent is at least `lowest`.
  template <class Add>
  static constexpr void add_scaled(bool negative, std::uint64_t magnitude, int exponent,
                                   const Add& add) {
    if (magnitude == 0) return;
    const int place = exponent - lowest;
    const int shift = place % 32;
    const std::uint64_t low = magnitude << shift;
    const std::uint64_t high = magnitude >> 1 >> (63 - shift);
    const std::uint64_t pieces[] = {low & digit_mask, low >> 32, high};
    for (int i = 0; i < 3; ++i) {
      const auto piece = static_cast<std::int64_t>(pieces[i]);
      if (piece != 0) add(place / 32 + i, negative ? -piece : piece);
    }
  }

  /// Adds a sum of products that is exact in double, or a NaN or infinity.
  template <class Add>
  static constexpr void add_value(double value, const Add& add) {
    const Parts parts = parts_of(value);
    if (parts.finite) {
      add_scaled(parts.negative, parts.magnitude, parts.exponent, add);
    } else {
      add(value != value ? nan : parts.negative ? minus_infinity : infinity, 1);
    }
  }

  /// Adds x * y for any x and y; products of doubles may exceed the range of double.
  template <class Add>
  static constexpr void add_product(double x, double y, const Add& add) {
    const Parts a = parts_of(x), b = parts_of(y);
    if (!a.finite || !b.finite) return add_value(x * y, add);
    const bool negative = a.negative != b.negative;
    const int exponent = a.exponent + b.exponent;
    const std::uint64_t a_low = a.magnitude & digit_mask, a_high = a.magnitude >> 32;
    const std::uint64_t b_low = b.magnitude & digit_mask, b_high = b.magnitude >> 32;
    add_scaled(negative, a_low * b_low, exponent, add);
    add_scaled(negative, a_low * b_high, exponent + 32, add);
    add_scaled(negative, a_high * b_low, exponent + 32, add);
    add_scaled(negative, a_high * b_high, exponent + 64, add);
  }

  /// Digit `i` after one step of carry propagation, applied to all digits at once: at most 2^33 in
  /// magnitude. The last digit keeps its sign.
  static constexpr std::int64_t carried(const std::int64_t* word, int i) {
    const std::int64_t from_below = i == 0 ? 0 : word[i - 1] >> 32;
    return from_below + (i == digits - 1 ? word[i] : word[i] & digit_mask);
  }

  /// Propagates all carries: afterwards all digits but the last are in [0, 2^32).
  static constexpr void carry(std::int64_t* word) {
    for (int i = 0; i < digits - 1; ++i) {
      word[i + 1] += word[i] >> 32;
      word[i] &= digit_mask;
    }
  }

  /// The sum, rounded once to nearest, ties to even; infinite outside T's range. NaN and infinite
  /// terms propagate as in IEEE 754. A sum of 0 is +0, and a NaN always has the same bits. Modifies
  /// the words.
  static constexpr T rounded(std::int64_t* word) {
    const bool up = word[infinity] != 0, down = word[minus_infinity] != 0;
    if (word[nan] != 0 || (up && down)) return from_bits(quiet_nan_bits, false);
    if (up || down) return from_bits(infinite_bits, down);

    carry(word);
    const bool negative = word[digits - 1] < 0;
    if (negative) {
      for (int i = 0; i < digits; ++i) word[i] = -word[i];
      carry(word);
    }
    int top = digits - 1;
    while (top > 0 && word[top] == 0) --top;
    if (word[top] == 0) return T{};
    return round_from(word, top, negative);
  }

 private:
  using Bits = typename Format::Bits;
  static constexpr int fraction_bits = Format::precision - 1;
  static constexpr Bits infinite_bits =
      static_cast<Bits>(Format::max_exponent - Format::min_exponent - fraction_bits + 1)
      << fraction_bits;
  static constexpr Bits quiet_nan_bits = infinite_bits | Bits{1} << (fraction_bits - 1);

  static constexpr T from_bits(Bits bits, bool negative) {
    return __builtin_bit_cast(T, bits | static_cast<Bits>(negative) << (8 * sizeof(Bits) - 1));
  }

  /// Rounds digits in [0, 2^32). word[top] is the highest nonzero digit.
  static constexpr T round_from(const std::int64_t* word, int top, bool negative) {
    // The leading 64 bits. Lower bits only break ties, so they are ORed into the last of the 64.
    int zeros = 0;
    while ((word[top] << zeros & std::int64_t{1} << 31) == 0) ++zeros;
    const auto digit = [&](int i) { return i < 0 ? 0 : static_cast<std::uint64_t>(word[i]); };
    const std::uint64_t third = digit(top - 2) << zeros;
    std::uint64_t leading = (digit(top) << 32 | digit(top - 1)) << zeros | third >> 32;
    std::uint64_t rest = third & digit_mask;
    for (int i = 0; i < top - 2; ++i) rest |= digit(i);
    leading |= static_cast<std::uint64_t>(rest != 0);

    const int exponent = lowest + 32 * (top - 1) - zeros;  // of the last of the 64 bits
    int drop = 64 - Format::precision;
    if (exponent + drop < Format::min_exponent) drop = Format::min_exponent - exponent;
    if (drop > 64) return from_bits(0, negative);  // less than half of the smallest subnormal
    const std::uint64_t kept = drop == 64 ? 0 : leading >> drop;
    const std::uint64_t half = std::uint64_t{1} << (drop - 1);
    const std::uint64_t dropped = leading & (half - 1 + half);
    const bool up = dropped > half || (dropped == half && kept % 2 == 1);

    // The encoding of a number is its exponent followed by its significand, so a carry from
    // rounding up propagates from one into the other.
    const int binade = exponent + drop - Format::min_exponent;
    if (binade > Format::max_exponent - Format::min_exponent) {
      return from_bits(infinite_bits, negative);
    }
    const std::uint64_t bits = (static_cast<std::uint64_t>(binade) << fraction_bits) + kept + up;
    return from_bits(bits < infinite_bits ? static_cast<Bits>(bits) : infinite_bits, negative);
  }
};

}  // namespace rung
