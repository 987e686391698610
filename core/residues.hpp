#pragma once
// Conversion of doubles to integers, and of integers to and from residues modulo 8-bit numbers, for
// compute mode `split` of f64 (docs/accuracy.md). Source: Ozaki, Uchino and Imamura, "Ozaki Scheme
// II: a GEMM-oriented emulation of floating-point matrix multiplication using an integer modular
// technique" (arXiv:2504.08009). All functions are constexpr so that device code can call them.
//
// An element x of a row of A or a column of B is rounded to q 2^-shift with an integer q. One shift
// applies to the whole row or column, chosen so that |row| |column| is below half the product of
// all moduli. By the Chinese remainder theorem, the residues of a sum of products then determine
// the sum.

#include <cstdint>

namespace rung::residues {

/// The number of products of residues whose sum stays below 2^30.
inline constexpr std::int64_t slab = 65536;

inline constexpr int count = 15;

/// The moduli are 256 - below_256[i]; they are pairwise coprime.
inline constexpr int below_256[count] = {0, 1, 3, 5, 9, 15, 17, 23, 27, 29, 33, 39, 45, 57, 59};

__extension__ using Integer = unsigned __int128;

/// The product of the moduli, 2^117.78.
constexpr Integer product() {
  Integer result = 1;
  for (const int below : below_256) result *= 256 - below;
  return result;
}

/// A number below 2^118, split into a multiple of 2^77, a multiple of 2^36 and a remainder. For
/// each part, a sum of 15 numbers, each times at most 255, is exact.
struct Parts {
  double high, middle, low;
};

constexpr Parts parts_of(Integer x) {
  constexpr int low_bits = 36, middle_bits = 41;
  constexpr auto low_mask = (std::uint64_t{1} << low_bits) - 1;
  constexpr auto middle_mask = (std::uint64_t{1} << middle_bits) - 1;
  const auto above = static_cast<std::uint64_t>(x >> low_bits);
  return {static_cast<double>(static_cast<std::uint64_t>(x >> (low_bits + middle_bits))) * 0x1p77,
          static_cast<double>(above & middle_mask) * 0x1p36,
          static_cast<double>(static_cast<std::uint64_t>(x) & low_mask)};
}
static_assert(parts_of(product()).high * 255 * count < 0x1p130);  // 53 bits starting at 2^77

/// A modulus p and derived constants.
struct Modulus {
  int value;
  float inverse;
  /// Residues of 2^15, 2^30 and 2^45 modulo p.
  float weights[3];
  /// The number that is 1 modulo p and 0 modulo all other moduli.
  Parts unit;
};

constexpr Modulus modulus(int i) {
  const int p = 256 - below_256[i];
  const Integer others = product() / static_cast<unsigned>(p);
  const int residue = static_cast<int>(others % static_cast<unsigned>(p));
  unsigned inverse = 1;
  while (inverse * static_cast<unsigned>(residue) % static_cast<unsigned>(p) != 1) ++inverse;
  Modulus result = {p, 1.0f / static_cast<float>(p), {}, parts_of(others * inverse)};
  int power = 1;
  for (float& weight : result.weights) {
    power = power * (1 << 15) % p;
    weight = static_cast<float>(power > p / 2 ? power - p : power);
  }
  return result;
}

/// Calls f.operator()<i>() for each modulus i.
template <int I = 0, class F>
constexpr void for_each_modulus(const F& f) {
  if constexpr (I < count) {
    f.template operator()<I>();
    for_each_modulus<I + 1>(f);
  }
}

/// Sums of squares in three scales. At least one of them neither overflows nor underflows.
struct SquaredNorms {
  double large, medium, small;

  constexpr void add(double x) {
    const double less = x * 0x1p-538, more = x * 0x1p600;
    large += less * less;
    medium += x * x;
    small += more * more;
  }
  constexpr void add(const SquaredNorms& other) {
    large += other.large;
    medium += other.medium;
    small += other.small;
  }
  /// False if an element was infinite or NaN.
  constexpr bool are_finite() const { return large < __builtin_inf(); }
};

/// The largest shift for which the norm of the scaled row or column is at most sqrt(product() / 2),
/// less a margin of 2^-20 for rounding. 0 if all elements are 0.
constexpr int shift_of(const SquaredNorms& norms) {
  constexpr double most = static_cast<double>(product() / 2) * (1 - 0x1p-20);
  const bool is_large = norms.large >= 0x1p-76, is_medium = norms.medium >= 0x1p-960;
  const double norm = is_large ? norms.large : is_medium ? norms.medium : norms.small;
  if (norm == 0) return 0;
  constexpr std::uint64_t fraction = (std::uint64_t{1} << 52) - 1;
  constexpr auto bits = __builtin_bit_cast(std::uint64_t, most);
  const auto of_norm = __builtin_bit_cast(std::uint64_t, norm);
  const int ratio = static_cast<int>(bits >> 52) - static_cast<int>(of_norm >> 52) -
                    ((bits & fraction) < (of_norm & fraction) ? 1 : 0);
  const int shift = ratio >> 1;
  return is_large ? shift - 538 : is_medium ? shift : shift + 600;
}

/// 2^exponent. The result must be a normal number.
constexpr double power_of_two(int exponent) {
  return __builtin_bit_cast(double, static_cast<std::uint64_t>(exponent + 1023) << 52);
}

/// x 2^exponent for exponents in [-2044, 2046]. Multiplies twice, because 2^exponent itself may not
/// be representable.
constexpr double scaled(double x, int exponent) {
  const int first = exponent / 2;
  return x * power_of_two(first) * power_of_two(exponent - first);
}

/// q0 + 2^15 q1 + 2^30 q2 + 2^45 q3 for an integer below 2^59, with each part in [-2^14, 2^14].
struct Pieces {
  float at[4];
};

constexpr Pieces pieces_of(std::int64_t q) {
  constexpr int half = 1 << 14;
  const std::int64_t biased = q + half * ((std::int64_t{1} << 30) + (1 << 15) + 1);
  const auto piece = [&](int i) {
    return static_cast<float>(static_cast<int>(biased >> (15 * i) & (2 * half - 1)) - half);
  };
  return {{piece(0), piece(1), piece(2), static_cast<float>(static_cast<int>(biased >> 45))}};
}

/// The residue of an integer modulo p, in [-128, 127], in the lowest byte.
template <int I>
constexpr std::uint32_t residue_of(const Pieces& q) {
  constexpr Modulus m = modulus(I);
  constexpr float to_integer = 0x1.8p23f;  // adding it rounds to an integer
  // Exact, since the sum is below 2^23. FMAs round the quotient only once and keep the remainder
  // below 128.
  float x = q.at[0];
  for (int i = 0; i < 3; ++i) x = __builtin_fmaf(q.at[i + 1], m.weights[i], x);
  const float quotient = __builtin_fmaf(x, m.inverse, to_integer) - to_integer;
  const float rest = __builtin_fmaf(quotient, -static_cast<float>(m.value), x);
  return __builtin_bit_cast(std::uint32_t, rest + to_integer) & 255;
}

/// Reduces sums of products of residues modulo p.
class Divisor {
 public:
  constexpr explicit Divisor(int i) {
    // Two packed words replace a table: indexing it at run time would require device memory.
    constexpr auto packed = [](int first) {
      std::uint64_t bytes = 0;
      for (int at = first; at < first + 8 && at < count; ++at) {
        bytes |= static_cast<std::uint64_t>(below_256[at]) << 8 * (at - first);
      }
      return bytes;
    };
    constexpr std::uint64_t first = packed(0), last = packed(8);
    modulus_ = 256 - static_cast<int>((i < 8 ? first >> 8 * i : last >> 8 * (i - 8)) & 255);
    multiplier_ = ((std::int64_t{1} << 38) + modulus_ - 1) / modulus_;
  }

  /// `sum` modulo p, for sums below 2^30. The result is in [0, p], so it fits in 8 bits.
  constexpr std::int32_t rest(std::int32_t sum) const {
    const auto high = static_cast<std::int32_t>(sum * multiplier_ >> 32);
    return sum - (high >> 6) * modulus_;
  }

 private:
  std::int32_t modulus_;
  std::int64_t multiplier_;  // 2^38 / p rounded up, below 2^31
};

/// Recovers an integer from its residues: the solution of smallest magnitude.
class Recovery {
 public:
  /// Adds the residue modulo modulus I, in [0, 255].
  template <int I>
  constexpr void add(std::uint32_t residue) {
    constexpr Parts unit = modulus(I).unit;
    // Build 2^52 + residue from its bits and subtract 2^52: integer conversions are slow.
    const double r = __builtin_bit_cast(double, std::uint64_t{0x43300000} << 32 | residue) - 0x1p52;
    sum_.high = __builtin_fma(r, unit.high, sum_.high);
    sum_.middle = __builtin_fma(r, unit.middle, sum_.middle);
    sum_.low = __builtin_fma(r, unit.low, sum_.low);
  }

  /// Rounds to double; exact for doubles up to 2^116 that are multiples of 2^36.
  constexpr double integer() const {
    constexpr Parts p = parts_of(product());
    constexpr double inverse = 1 / static_cast<double>(product());
    constexpr double to_integer = 0x1.8p52;
    const double times = ((sum_.high + sum_.middle) * inverse + to_integer) - to_integer;
    // Each product and each difference is exact.
    const double high = sum_.high - times * p.high;
    const double middle = sum_.middle - times * p.middle;
    const double low = sum_.low - times * p.low;
    return high + (middle + low);
  }

 private:
  Parts sum_ = {0, 0, 0};
};

/// Scales a sum of integer products to 2^(unit_a + unit_b), the units of both operands.
constexpr double in_units(double sum, int unit_a, int unit_b) {
  constexpr int least = -1300;  // below it every sum underflows to 0
  const int exponent = unit_a + unit_b;
  return scaled(sum, exponent < least ? least : exponent);
}

}  // namespace rung::residues
