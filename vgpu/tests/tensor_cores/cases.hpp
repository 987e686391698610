#pragma once
// Fragments that are hard to sum, computed from their number in the same way on CPUs and GPUs: 12
// families, in turn.

#include <cstdint>

#ifdef __CUDACC__
#define RUNG_ANYWHERE __host__ __device__
#else
#define RUNG_ANYWHERE
#endif

namespace rung::tensor_cores {

enum Type { f16, bf16, tf32, e4m3, e5m2 };

inline constexpr int families = 12;

constexpr RUNG_ANYWHERE int exponent_bits(Type t) {
  return t == f16 || t == e5m2 ? 5 : t == e4m3 ? 4 : 8;
}
/// tf32 has 13 more bits, which tensor cores ignore.
constexpr RUNG_ANYWHERE int mantissa_bits(Type t) {
  return t == f16 ? 10 : t == bf16 ? 7 : t == tf32 ? 23 : t == e4m3 ? 3 : 2;
}
constexpr RUNG_ANYWHERE int bits_of(Type t) { return 1 + exponent_bits(t) + mantissa_bits(t); }
constexpr RUNG_ANYWHERE int per_word(Type t) { return 32 / bits_of(t); }

constexpr RUNG_ANYWHERE std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

/// Random bits for element `at` of a row or column of A (matrix 0), B (1) or C (2).
constexpr RUNG_ANYWHERE std::uint64_t random_of(std::uint64_t fragment, int matrix, int line,
                                                int at) {
  return mix(mix(fragment * 4 + static_cast<unsigned>(matrix)) ^
             (static_cast<std::uint64_t>(line) << 32 | static_cast<std::uint32_t>(at)));
}

/// A finite number. Exponents out of range are clamped.
constexpr RUNG_ANYWHERE std::uint32_t encoded(Type t, std::uint32_t sign, int exponent,
                                              std::uint32_t mantissa) {
  const int eb = exponent_bits(t), mb = mantissa_bits(t);
  const int top = t == e4m3 ? 15 : (1 << eb) - 2;
  if (exponent < 0) exponent = 0;
  if (exponent > top) exponent = top;
  mantissa &= (1u << mb) - 1;
  if (t == e4m3 && exponent == 15 && mantissa == 7) mantissa = 6;
  return sign << (eb + mb) | static_cast<std::uint32_t>(exponent) << mb | mantissa;
}

/// An element of A (matrix 0) or B (1), at step k of `deep`.
constexpr RUNG_ANYWHERE std::uint32_t element(Type t, std::uint64_t fragment, int matrix, int line,
                                              int k, int deep) {
  const int eb = exponent_bits(t), mb = mantissa_bits(t);
  const int middle = (1 << (eb - 1)) - 1;
  const std::uint32_t last_bit = t == tf32 ? 8192 : 1;
  const std::uint64_t h = random_of(fragment, matrix, line, k);
  const std::uint32_t sign = h & 1;
  const auto dice = static_cast<std::uint32_t>(h >> 40);
  auto mantissa = static_cast<std::uint32_t>(h >> 8);
  if (t == tf32 && (fragment & 64) != 0) mantissa &= ~0x1FFFu;
  switch (fragment % families) {
    case 1: return encoded(t, sign, dice % (1u << eb), mantissa);  // all exponents
    case 2: {  // the second half of k cancels the first, except for the last bits
      const std::uint64_t g = random_of(fragment, matrix, line, k % (deep / 2));
      const bool flips = matrix == 0 && k >= deep / 2;
      return encoded(t, (g & 1) ^ (flips ? 1 : 0),
                     middle - 3 + static_cast<int>((g >> 40) % (1u << 24) % 6),
                     static_cast<std::uint32_t>(g >> 8) ^ (flips && dice % 4 == 0 ? last_bit : 0));
    }
    case 3: return encoded(t, sign, dice % 3 == 0 ? 1 : 0, mantissa);  // subnormal
    case 4:                                                            // zeros of both signs
      return dice % 3 != 0
                 ? encoded(t, sign, 0, 0)
                 : encoded(t, sign, middle - 1 + static_cast<int>(dice / 3 % 3), mantissa);
    case 5: {  // infinities and NaN
      if (dice % 48 != 0) {
        return encoded(t, sign, middle - 2 + static_cast<int>(dice / 48 % 4), mantissa);
      }
      if (t == e4m3) return sign << 7 | 0x7F;
      const std::uint32_t infinity = ((1u << eb) - 1) << mb;
      const std::uint32_t nan = dice / 48 % 3 == 0 ? mantissa & ((1u << mb) - 1) : 0;
      return sign << (eb + mb) | infinity | nan;
    }
    case 6: {  // few bits: ties
      const std::uint32_t few[] = {0, last_bit, 1u << (mb - 1)};
      return encoded(t, sign, middle - 4 + static_cast<int>(dice / 3 % 8), few[dice % 3]);
    }
    case 7: {  // one large product, all others far below it
      const int large = static_cast<int>(mix(fragment) % static_cast<std::uint32_t>(deep));
      if (k == large) return encoded(t, sign, middle + 3, dice % 2 != 0 ? mantissa : 0);
      return encoded(t, sign, middle - 4 - static_cast<int>(dice % 12), mantissa);
    }
    case 9:  // the largest numbers
      return encoded(t, sign, (1 << eb) - 2 - static_cast<int>(dice % 3), mantissa);
    case 10: return encoded(t, 0, middle - 1 + static_cast<int>(dice % 2), mantissa);  // one sign
    case 11: {  // one or two nonzero products
      const int one = static_cast<int>(mix(fragment) % static_cast<std::uint32_t>(deep));
      const int two = static_cast<int>(mix(fragment + 1) % static_cast<std::uint32_t>(deep));
      if (k == one || k == two) {
        return encoded(t, sign, middle - 6 + static_cast<int>(dice % 12), mantissa);
      }
      if (matrix != 0) return encoded(t, sign, 0, 0);
      return dice % 2 != 0 ? encoded(t, sign, middle + static_cast<int>(dice / 2 % 8), mantissa)
                           : 0;
    }
    default: return encoded(t, sign, middle - 2 + static_cast<int>(dice % 4), mantissa);
  }
}

constexpr RUNG_ANYWHERE std::uint32_t word_of(Type t, std::uint64_t fragment, int matrix, int line,
                                              int word, int deep) {
  std::uint32_t bits = 0;
  for (int e = 0; e < per_word(t); ++e) {
    bits |= element(t, fragment, matrix, line, word * per_word(t) + e, deep)
            << (e * bits_of(t) % 32);
  }
  return bits;
}

/// An element of C, in f16 or f32.
constexpr RUNG_ANYWHERE std::uint32_t element_of_c(bool is_half, std::uint64_t fragment, int row,
                                                   int col) {
  const std::uint64_t h = random_of(fragment, 2, row, col);
  const Type t = is_half ? f16 : tf32;
  const int middle = is_half ? 15 : 127, sign_at = is_half ? 15 : 31;
  const std::uint32_t sign = h & 1;
  const auto mantissa = static_cast<std::uint32_t>(h >> 8),
             dice = static_cast<std::uint32_t>(h >> 40);
  const auto style = static_cast<std::uint32_t>(mix(fragment / families) % 4);
  const auto of = [=](int exponent, std::uint32_t fraction) {
    return encoded(t, sign, exponent, fraction);
  };
  const auto below = [=](std::uint32_t count) { return static_cast<int>(dice % count); };
  if (style == 0) return 0;
  switch (fragment % families) {
    case 1: return is_half ? of(below(31), mantissa) : of(middle - 40 + below(80), mantissa);
    case 2: return style == 1 ? of(middle - 20 + below(24), mantissa) : 0;
    case 3:
      if (is_half || style == 1) return of(below(3), mantissa);
      return of(middle - (style == 2 ? 28 : 16) - below(24), mantissa);
    case 4:
      return dice % 3 != 0 ? sign << sign_at
                           : of(middle - 2 + static_cast<int>(dice / 3 % 4), mantissa);
    case 5: {
      if (dice % 16 != 0) return of(middle, mantissa);
      const std::uint32_t infinity = is_half ? 0x7C00u : 0x7F800000u;
      const std::uint32_t nan = dice / 16 % 2 != 0 ? mantissa & (is_half ? 0x3FFu : 0x7FFFFFu) : 0;
      return sign << sign_at | infinity | nan;
    }
    case 6:
      return of(middle - 8 + below(16), dice % 2 != 0 ? 0 : is_half ? 1u : 1u << (dice / 2 % 23));
    case 7: return of(middle + 8 - below(24), mantissa);
    case 8:  // C dominates
      return of(middle + (is_half ? 6 : 6 + static_cast<int>(style) * 8) + below(4), mantissa);
    case 9: return is_half ? of(30 - below(2), mantissa) : of(254 - below(4), mantissa);
    case 10: return encoded(t, 0, middle + below(3), mantissa);
    default: return of(middle - 4 + below(8), mantissa);
  }
}

}  // namespace rung::tensor_cores
