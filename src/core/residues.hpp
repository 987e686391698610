#pragma once
// Doubles as integers, and integers as their residues modulo numbers of 8 bits, for mode split of
// f64 (docs/accuracy.md): Ozaki, Uchino and Imamura, "Ozaki Scheme II: a GEMM-oriented emulation of
// floating-point matrix multiplication using an integer modular technique" (arXiv:2504.08009).
// constexpr, so that device code can call it.
//
// An element of a row of A or a column of B is q 2^-shift, rounded, with one shift for all of the
// row or column, so that |row| |column| is below half of the product of all moduli. Then the
// residues of a sum of products determine the sum (the Chinese remainder theorem).

#include <cstdint>

namespace rung::residues {

/// A sum of products of residues is below 2^30 for so many steps.
inline constexpr std::int64_t slab = 65536;

inline constexpr int count = 15;

/// The moduli are 256 minus these, and coprime.
inline constexpr int below_256[count] = {0, 1, 3, 5, 9, 15, 17, 23, 27, 29, 33, 39, 45, 57, 59};

__extension__ using Integer = unsigned __int128;

/// The moduli's product: 2^117.78.
constexpr Integer product() {
  Integer result = 1;
  for (const int below : below_256) result *= 256 - below;
  return result;
}

/// A number below 2^118 as a sum of three: a multiple of 2^77, one of 2^36, and the rest. The sum
/// of one part of 15 numbers, each times at most 255, is exact.
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
static_assert(parts_of(product()).high * 255 * count < 0x1p130);  // 53 bits from 2^77 on

/// What is known of a modulus.
struct Modulus {
  int value;
  float inverse;
  /// The residues of 2^15, 2^30 and 2^45.
  float weights[3];
  /// The number whose residue is 1 here and 0 for all other moduli.
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

/// Calls f.operator()<i>() for all moduli.
template <int I = 0, class F>
constexpr void for_each_modulus(const F& f) {
  if constexpr (I < count) {
    f.template operator()<I>();
    for_each_modulus<I + 1>(f);
  }
}

/// Sums of squares of elements, each of other units, so that one neither overflows nor underflows.
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
  /// Whether all elements are.
  constexpr bool are_finite() const { return large < __builtin_inf(); }
};

/// The largest shift with which the norm of a row or column is at most the root of half of
/// product(), but for 2^-20 of it, which rounding may add: 0 for zeros.
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

/// 2^exponent, of a normal number.
constexpr double power_of_two(int exponent) {
  return __builtin_bit_cast(double, static_cast<std::uint64_t>(exponent + 1023) << 52);
}

/// x 2^exponent, for exponents from -2044 to 2046: by two factors, because one may be no double.
constexpr double scaled(double x, int exponent) {
  const int first = exponent / 2;
  return x * power_of_two(first) * power_of_two(exponent - first);
}

/// An integer below 2^59 as q0 + 2^15 q1 + 2^30 q2 + 2^45 q3, each from -2^14 to 2^14.
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

/// The residue of an integer, from -128 to 127, in the lowest byte.
template <int I>
constexpr std::uint32_t residue_of(const Pieces& q) {
  constexpr Modulus m = modulus(I);
  constexpr float to_integer = 0x1.8p23f;  // added, it leaves no fraction
  // Exact: below 2^23. FMAs, so that the quotient is rounded once and the rest is below 128.
  float x = q.at[0];
  for (int i = 0; i < 3; ++i) x = __builtin_fmaf(q.at[i + 1], m.weights[i], x);
  const float quotient = __builtin_fmaf(x, m.inverse, to_integer) - to_integer;
  const float rest = __builtin_fmaf(quotient, -static_cast<float>(m.value), x);
  return __builtin_bit_cast(std::uint32_t, rest + to_integer) & 255;
}

/// Divides sums of products of residues.
class Divisor {
 public:
  constexpr explicit Divisor(int i) {
    // Loads of a table that is indexed at run time would need memory of the device.
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

  /// The rest of a sum that is below 2^30, from 0 to the modulus: to 255.
  constexpr std::int32_t rest(std::int32_t sum) const {
    const auto high = static_cast<std::int32_t>(sum * multiplier_ >> 32);
    return sum - (high >> 6) * modulus_;
  }

 private:
  std::int32_t modulus_;
  std::int64_t multiplier_;  // 2^38 / modulus, rounded up, below 2^31
};

/// The integer that residues determine: the one next to 0.
class Recovery {
 public:
  /// The residue of modulus I, from 0 to 255.
  template <int I>
  constexpr void add(std::uint32_t residue) {
    constexpr Parts unit = modulus(I).unit;
    // The number's bits, as those of 2^52 plus it: conversions are slow.
    const double r = __builtin_bit_cast(double, std::uint64_t{0x43300000} << 32 | residue) - 0x1p52;
    sum_.high = __builtin_fma(r, unit.high, sum_.high);
    sum_.middle = __builtin_fma(r, unit.middle, sum_.middle);
    sum_.low = __builtin_fma(r, unit.low, sum_.low);
  }

  /// Rounded; exact where it is a double of at most 2^116 that is a multiple of 2^36.
  constexpr double integer() const {
    constexpr Parts p = parts_of(product());
    constexpr double inverse = 1 / static_cast<double>(product());
    constexpr double to_integer = 0x1.8p52;
    const double times = ((sum_.high + sum_.middle) * inverse + to_integer) - to_integer;
    // Exact, each of them.
    const double high = sum_.high - times * p.high;
    const double middle = sum_.middle - times * p.middle;
    const double low = sum_.low - times * p.low;
    return high + (middle + low);
  }

 private:
  Parts sum_ = {0, 0, 0};
};

/// A sum of products of elements, from that of their integers, which are multiples of 2^unit.
constexpr double in_units(double sum, int unit_a, int unit_b) {
  constexpr int least = -1300;  // 0 for all sums
  const int exponent = unit_a + unit_b;
  return scaled(sum, exponent < least ? least : exponent);
}

}  // namespace rung::residues
