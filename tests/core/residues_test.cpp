// Doubles as residues: each step against 128-bit integers, and a product of all steps against its
// error bound.

#include "core/residues.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

namespace rung::residues {
namespace {

__extension__ using Signed = __int128;

constexpr int modulus_at(int i) { return 256 - below_256[i]; }

/// The remainder of `x` in [0, modulus).
int rest_of(Signed x, int modulus) {
  const int rest = static_cast<int>(x % modulus);
  return rest < 0 ? rest + modulus : rest;
}

TEST(Residues, ModuliAreCoprime) {
  for (int i = 0; i < count; ++i) {
    for (int j = 0; j < i; ++j) EXPECT_EQ(std::gcd(modulus_at(i), modulus_at(j)), 1) << i << j;
  }
}

void expect_residues(std::int64_t q) {
  const Pieces pieces = pieces_of(q);
  for_each_modulus([&]<int I>() {
    const auto residue = static_cast<std::int8_t>(residue_of<I>(pieces));
    EXPECT_EQ(rest_of(residue, modulus_at(I)), rest_of(q, modulus_at(I))) << q;
  });
}

TEST(Residues, AreThoseOfTheInteger) {
  std::mt19937_64 engine(1);
  for (int i = 0; i < 20000; ++i) {
    const auto bits = static_cast<unsigned>(engine() % 59);
    expect_residues(static_cast<std::int64_t>(engine()) >> (63 - bits));
  }
  const std::int64_t most = std::int64_t{5} << 56;
  for (std::int64_t near = -300; near <= 300; ++near) {
    expect_residues(near);
    expect_residues(most + near);
    expect_residues(near - most);
  }
}

TEST(Residues, OfSumsAreFromZeroTo255) {
  std::mt19937_64 engine(2);
  constexpr std::int32_t most = (1 << 30) - 1;
  const auto expect_rest = [](std::int32_t sum) {
    for (int i = 0; i < count; ++i) {
      const std::int32_t rest = Divisor(i).rest(sum);
      EXPECT_GE(rest, 0);
      EXPECT_LE(rest, 255);
      EXPECT_EQ((sum - rest) % modulus_at(i), 0) << sum;
    }
  };
  for (int i = 0; i < 20000; ++i) {
    expect_rest(static_cast<std::int32_t>(engine()) >> 1 >> engine() % 30);
  }
  for (std::int32_t near = 0; near < 600; ++near) {
    expect_rest(most - near);
    expect_rest(near - most);
    expect_rest(near - 300);
  }
}

double recovered(Signed x) {
  Recovery recovery;
  for_each_modulus(
      [&]<int I>() { recovery.add<I>(static_cast<std::uint32_t>(rest_of(x, modulus_at(I)))); });
  return recovery.integer();
}

TEST(Residues, DetermineTheInteger) {
  std::mt19937_64 engine(3);
  const auto most = static_cast<Signed>(product() / 2 - (product() >> 20));
  for (int i = 0; i < 20000; ++i) {
    const auto x = static_cast<Signed>(static_cast<Integer>(engine()) << 64 | engine());
    const auto small = static_cast<int>(engine() % 108);
    const Signed integer = x % most >> small;
    // One unit of the sum, and half a unit of the addend to its upper part.
    const double off =
        std::abs(static_cast<double>(static_cast<Signed>(recovered(integer)) - integer));
    EXPECT_LE(off, std::abs(static_cast<double>(integer)) * 0x1p-53 + 0x1p37);
    // 53 bits, starting at bit 36.
    const auto exact = static_cast<double>(static_cast<std::int64_t>(x) >> 11) *
                       std::exp2(36 + static_cast<int>(engine() % 28));
    EXPECT_EQ(recovered(static_cast<Signed>(exact)), exact);
  }
  EXPECT_EQ(recovered(0), 0);
  EXPECT_EQ(recovered(most), static_cast<double>(most));
  EXPECT_EQ(recovered(-most), -static_cast<double>(most));
}

SquaredNorms norms_of(const std::vector<double>& row) {
  SquaredNorms norms = {0, 0, 0};
  for (const double x : row) norms.add(x);
  return norms;
}

std::vector<double> scaled_by(std::vector<double> row, double factor) {
  for (double& x : row) x *= factor;
  return row;
}

TEST(Residues, ShiftsUseTheWholeRange) {
  std::mt19937_64 engine(4);
  std::normal_distribution<double> normal;
  std::vector<double> row(300);
  for (double& x : row) x = normal(engine);
  const double most = std::sqrt(static_cast<double>(product() / 2));
  const auto expect_norm = [&](const std::vector<double>& of) {
    const int shift = shift_of(norms_of(of));
    long double squares = 0;
    for (const double x : of) squares += std::pow(static_cast<long double>(scaled(x, shift)), 2);
    const auto norm = static_cast<double>(std::sqrt(squares));
    EXPECT_LE(norm, most * (1 - 0x1p-22));
    EXPECT_GT(norm, most / 2 * (1 - 0x1p-18));
  };
  for (const double factor : {1.0, 0x1p-1000, 0x1p-1060, 0x1p1018, 0x1p500, 0x1p-490, 0x1p-470}) {
    expect_norm(scaled_by(row, factor));
  }
  expect_norm({std::numeric_limits<double>::denorm_min()});
  expect_norm({std::numeric_limits<double>::max(), 1, 0});
  EXPECT_EQ(shift_of(norms_of({0, -0.0})), 0);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(norms_of({std::numeric_limits<double>::max()}).are_finite());
  EXPECT_FALSE(norms_of({1, -infinity}).are_finite());
  EXPECT_FALSE(norms_of({1, std::numeric_limits<double>::quiet_NaN()}).are_finite());
}

/// The inner product as a GPU computes it.
double inner_product(const std::vector<double>& a, const std::vector<double>& b) {
  const int shift_a = shift_of(norms_of(a)), shift_b = shift_of(norms_of(b));
  const auto pieces = [](double x, int shift) {
    return pieces_of(static_cast<std::int64_t>(std::nearbyint(scaled(x, shift))));
  };
  std::array<std::int32_t, count> sums = {};
  for (std::size_t k = 0; k < a.size(); ++k) {
    const Pieces of_a = pieces(a[k], shift_a), of_b = pieces(b[k], shift_b);
    for_each_modulus([&]<int I>() {
      sums[I] += static_cast<std::int8_t>(residue_of<I>(of_a)) *
                 static_cast<std::int8_t>(residue_of<I>(of_b));
    });
  }
  Recovery recovery;
  for_each_modulus(
      [&]<int I>() { recovery.add<I>(static_cast<std::uint32_t>(Divisor(I).rest(sums[I]))); });
  return in_units(recovery.integer(), -shift_a, -shift_b);
}

TEST(Residues, ProductsAreWithinTheirBound) {
  std::mt19937_64 engine(5);
  std::normal_distribution<double> normal;
  const auto by_element = [&](double x) { return x; };
  const auto wide = [&](double x) { return x * std::exp(4 * normal(engine)); };
  const auto one_sign = [](double x) { return std::abs(x); };
  const auto check = [&](const auto& element, std::size_t k, double scale) {
    std::vector<double> a(k), b(k);
    for (double& x : a) x = element(normal(engine)) * scale;
    for (double& x : b) x = element(normal(engine)) / scale;
    long double exact = 0, squares_a = 0, squares_b = 0;
    for (std::size_t i = 0; i < k; ++i) {
      exact += static_cast<long double>(a[i]) * b[i];
      squares_a += static_cast<long double>(a[i]) * a[i];
      squares_b += static_cast<long double>(b[i]) * b[i];
    }
    const auto size = static_cast<double>(std::sqrt(squares_a) * std::sqrt(squares_b));
    const double bound = (0.05 * std::sqrt(static_cast<double>(k)) + 2) * 0x1p-53 * size;
    EXPECT_LE(std::abs(static_cast<double>(inner_product(a, b) - exact)), bound) << k;
  };
  for (const std::size_t k : {1u, 2u, 30u, 1000u}) {
    for (const double scale : {1.0, 1e12, 1e-300}) {
      for (int i = 0; i < 20; ++i) {
        check(by_element, k, scale);
        check(wide, k, scale);
        check(one_sign, k, scale);
      }
    }
  }
}

TEST(Residues, SmallIntegersHaveExactProducts) {
  std::mt19937_64 engine(6);
  for (int i = 0; i < 200; ++i) {
    std::vector<double> a(50), b(50);
    double exact = 0;
    for (std::size_t k = 0; k < a.size(); ++k) {
      a[k] = static_cast<double>(engine() % 2001) - 1000;
      b[k] = static_cast<double>(engine() % 9) - 4;
      exact += a[k] * b[k];
    }
    EXPECT_EQ(inner_product(a, b), exact);
  }
}

}  // namespace
}  // namespace rung::residues
