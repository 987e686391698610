#pragma once
// Ill-conditioned data: vectors whose dot product cancels almost entirely.

#include <cmath>
#include <span>
#include <utility>

#include "core/exact_sum.hpp"
#include "core/random.hpp"

namespace rung {

/// Fills x and y, of equal size, so that 2 |x|.|y| / |x.y| is about `condition`: algorithm 6.1 of
/// Ogita, Rump and Oishi (2005). The first half covers the exponents that the condition needs. The
/// second half cancels the partial sum at falling exponents. Finally, all elements are shuffled.
template <class T>
void make_ill_conditioned(std::span<T> x, std::span<T> y, double condition, std::uint64_t seed) {
  const auto n = static_cast<std::int64_t>(x.size());
  const std::int64_t half = n / 2;
  const double bits = std::log2(condition) / 2;
  std::int64_t draws = 0;
  const auto draw = [&] { return random_element<T>(Values::reals, seed, draws++); };
  const auto scaled = [&](double exponent) {
    return std::ldexp(draw(), static_cast<int>(std::lround(exponent)));
  };

  ExactSum sum;
  for (std::int64_t i = 0; i < half; ++i) {
    const double exponent = i == 0 ? bits + 1 : i + 1 == half ? 0 : std::abs(draw()) * bits;
    x[i] = scaled(exponent);
    y[i] = scaled(exponent);
    sum.add_product(x[i], y[i]);
  }
  for (std::int64_t i = half; i < n; ++i) {
    const auto left = static_cast<double>(n - 1 - i);
    const double exponent =
        bits * left / static_cast<double>(std::max<std::int64_t>(n - 1 - half, 1));
    x[i] = scaled(exponent);
    y[i] = static_cast<T>((scaled(exponent) - sum.value()) / x[i]);
    sum.add_product(x[i], y[i]);
  }
  for (std::int64_t i = n - 1; i > 0; --i) {
    const std::int64_t j = random_below(i + 1, seed, static_cast<std::uint64_t>(draws++));
    std::swap(x[i], x[j]);
    std::swap(y[i], y[j]);
  }
}

}  // namespace rung
