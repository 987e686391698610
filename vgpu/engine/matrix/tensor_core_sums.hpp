#pragma once
// The sums of products of floats that tensor cores of an H200 compute, bit for bit. Found with
// vgpu/tests/tensor_cores/check.cu, which compares 10^6 fragments of each type.
//
// Products are exact. The terms of a sum are a group of products and C. They are aligned to the
// largest exponent among them, and truncated to `fraction` bits below it. Their sum is exact, then
// rounded to the result: toward zero for f32, to nearest for f16. A result of zero is +0. The
// exponent of a product is the sum of its factors' encoded exponents, so subnormal elements have
// the smallest exponent.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "vgpu/model/matrix_form.hpp"

namespace rung::vgpu {

struct SumRule {
  int group;     // number of products summed together
  int fraction;  // bits of a term kept below the largest exponent
  int kept;      // fraction bits kept in an f32 result
  int min_exponent_a, min_exponent_b, min_exponent_c;  // of normal elements
  bool is_half;                                        // the result is rounded to f16
  /// mma.sync converts 8-bit floats to f16 and first multiplies the lower two of each register. C
  /// is added last, in f32, rounded to nearest.
  bool by_halves;
};

constexpr int min_exponent(MatrixElement element) {
  switch (element) {
    case MatrixElement::f16:
    case MatrixElement::e5m2: return -14;
    case MatrixElement::e4m3: return -6;
    default: return -126;
  }
}

constexpr bool is_float8(MatrixElement element) {
  return element == MatrixElement::e4m3 || element == MatrixElement::e5m2;
}

constexpr SumRule sum_rule(MatrixElement a, MatrixElement b, MatrixElement d, bool is_wgmma) {
  SumRule rule = {.group = a == MatrixElement::tf32 ? 8 : 16,
                  .fraction = 25,
                  .kept = 23,
                  .min_exponent_a = min_exponent(a),
                  .min_exponent_b = min_exponent(b),
                  .min_exponent_c = min_exponent(d),
                  .is_half = d == MatrixElement::f16,
                  .by_halves = is_float8(a) && !is_wgmma};
  if (is_float8(a) && is_wgmma) {
    rule.group = 32;
    rule.fraction = rule.kept = 13;
  }
  if (rule.by_halves) {
    rule.min_exponent_a = rule.min_exponent_b = min_exponent(MatrixElement::f16);
  }
  return rule;
}

/// The rule for tcgen05.mma: that of wgmma with as many bits for 8-bit floats as for 16-bit ones, as others measured on
/// B200s (engine/tensor_memory/window_sums.hpp).
constexpr SumRule tcgen05_sum_rule(MatrixElement a, MatrixElement b, MatrixElement d) {
  SumRule rule = sum_rule(a, b, d, true);
  rule.fraction = 25;
  rule.kept = 23;
  return rule;
}

/// The exponent by which a term is aligned; for zero, a value far below all others.
[[gnu::always_inline]] inline std::int32_t exponent_of(float x, int least) {
  const auto bits = std::bit_cast<std::uint32_t>(x) & 0x7FFFFFFFu;
  const auto exponent = static_cast<std::int32_t>(bits >> 23) - 127;
  return bits == 0 ? -4096 : std::max(exponent, least);
}

/// Converts an exact sum to a float: truncated, or rounded to odd if it will be rounded again to
/// f16.
[[gnu::always_inline]] inline float rounded_sum(double sum, const SumRule& rule) {
  const auto nearest = static_cast<float>(sum);
  auto bits = std::bit_cast<std::uint32_t>(nearest);
  const bool is_too_large = std::abs(static_cast<double>(nearest)) > std::abs(sum);
  const bool is_beyond = std::abs(sum) >= 0x1p128;
  bits -= is_too_large && !is_beyond ? 1 : 0;
  const bool is_inexact = static_cast<double>(std::bit_cast<float>(bits)) != sum;
  if (rule.is_half) {
    bits |= is_inexact && !is_beyond ? 1 : 0;
    return std::abs(sum) <= 0x1p-25 ? 0.0f : std::bit_cast<float>(bits);
  }
  bits &= ~0u << (23 - rule.kept);
  return (bits << 1) == 0 ? 0.0f : std::bit_cast<float>(bits);
}

inline constexpr int max_steps = 32;

/// Columns of B, with steps in the order of summation.
template <int lanes>
struct Columns {
  double values[max_steps][lanes];
  std::int32_t exponents[max_steps][lanes];
};

/// The step that is summed at position i, out of k.
constexpr int step_of(const SumRule& rule, int k, int i) {
  if (!rule.by_halves) return i;
  const int half = i < k / 2 ? 0 : 1, within = i - half * (k / 2);
  return within / 2 * 4 + half * 2 + within % 2;
}

/// Step i of column `lane` is b[i * b_step + lane].
template <int lanes>
[[gnu::always_inline]] inline void set_columns(const SumRule& rule, int k, const float* b,
                                               int b_step, Columns<lanes>& columns) {
  for (int i = 0; i < k; ++i) {
    const float* const row = b + step_of(rule, k, i) * b_step;
    for (int lane = 0; lane < lanes; ++lane) {
      columns.values[i][lane] = row[lane];
      columns.exponents[i][lane] = exponent_of(row[lane], rule.min_exponent_b);
    }
  }
}

/// sums[lane] += the products of steps [first, last).
template <int lanes>
[[gnu::always_inline]] inline void add_group(const SumRule& rule, int first, int last,
                                             const double* a, const std::int32_t* of_a,
                                             const Columns<lanes>& columns, float (&sums)[lanes]) {
  std::int32_t most[lanes];
  double total[lanes], plain[lanes], scale[lanes], back[lanes];
  for (int lane = 0; lane < lanes; ++lane) {
    most[lane] = exponent_of(sums[lane], rule.min_exponent_c);
  }
  for (int i = first; i < last; ++i) {
    for (int lane = 0; lane < lanes; ++lane) {
      const std::int32_t of_product = of_a[i] + columns.exponents[i][lane];
      most[lane] = of_product > most[lane] ? of_product : most[lane];
    }
  }
  for (int lane = 0; lane < lanes; ++lane) {
    const auto shift = static_cast<std::int64_t>(rule.fraction - std::max(most[lane], -512));
    scale[lane] = std::bit_cast<double>((1023 + shift) << 52);
    back[lane] = std::bit_cast<double>((1023 - shift) << 52);
    plain[lane] = sums[lane];
    total[lane] = std::trunc(plain[lane] * scale[lane]);
  }
  for (int i = first; i < last; ++i) {
    for (int lane = 0; lane < lanes; ++lane) {
      const double product = a[i] * columns.values[i][lane];
      plain[lane] += product;
      total[lane] += std::trunc(product * scale[lane]);
    }
  }
  for (int lane = 0; lane < lanes; ++lane) {
    // Infinities and NaN propagate as in IEEE 754. Other terms do not overflow in double precision.
    const bool is_finite = std::abs(plain[lane]) <= 0x1p1023;
    const float sum = rounded_sum(is_finite ? total[lane] * back[lane] : 0.0, rule);
    sums[lane] = is_finite ? sum : static_cast<float>(plain[lane]);
  }
}

/// sums[lane] += the sum over k steps of a[i] times column `lane`.
template <int lanes>
[[gnu::always_inline]] inline void add_products(const SumRule& rule, int k, const float* a,
                                                const Columns<lanes>& columns,
                                                float (&sums)[lanes]) {
  double values[max_steps];
  std::int32_t exponents[max_steps];
  for (int i = 0; i < k; ++i) {
    const float value = a[step_of(rule, k, i)];
    values[i] = value;
    exponents[i] = exponent_of(value, rule.min_exponent_a);
  }
  if (!rule.by_halves) {
    for (int i = 0; i < k; i += rule.group) {
      add_group(rule, i, std::min(k, i + rule.group), values, exponents, columns, sums);
    }
    return;
  }
  SumRule product_rule = rule;
  product_rule.is_half = false;
  product_rule.min_exponent_c = -126;
  float products[lanes] = {};
  add_group(product_rule, 0, k / 2, values, exponents, columns, products);
  add_group(product_rule, k / 2, k, values, exponents, columns, products);
  for (int lane = 0; lane < lanes; ++lane) sums[lane] += products[lane];
}

}  // namespace rung::vgpu
