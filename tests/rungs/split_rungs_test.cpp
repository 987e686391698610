// The rungs of compute mode split for f32 on the virtual GPU: their error on inputs that are hard
// for halves, compared with that of sums in float, and the treatment of infinities and NaN.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "backends/rungs/cuda.hpp"
#include "core/rung.hpp"
#include "factors.hpp"
#include "rungs_under_test.hpp"

namespace rung {
namespace {

constexpr double u = 0x1p-24;
constexpr float infinity = std::numeric_limits<float>::infinity();

class Source {
 public:
  float normal() { return static_cast<float>(normal_(engine_)); }
  float uniform(double from, double to) {
    return static_cast<float>(std::uniform_real_distribution<double>(from, to)(engine_));
  }
  float power_of_two(double from, double to) { return std::exp2(uniform(from, to)); }

 private:
  std::mt19937 engine_{1};
  std::normal_distribution<double> normal_;
};

/// Sets each element to `element` of the source, its row of A or column of B, and its index along
/// k.
Factors<float> filled(
    std::int64_t m, std::int64_t n, std::int64_t k,
    const std::function<float(Source&, std::int64_t extent, std::int64_t k)>& element) {
  Source source;
  return rung::filled<float>(
      m, n, k, [&](std::int64_t extent, std::int64_t l) { return element(source, extent, l); });
}

struct ProductError {
  double normwise;       // ||C - exact|| / ||exact||, Frobenius norm
  double componentwise;  // maximum of |C - exact| / |A||B|, in u
  double of_bound;       // maximum of |C - exact| / bound of the mode
};

ProductError error_of(const Dense<float>& c, const Factors<float>& factors) {
  const auto& [a, b] = factors;
  const auto k = static_cast<double>(a.cols);
  long double squared_error = 0, squared = 0;
  ProductError error{0, 0, 0};
  for (std::int64_t i = 0; i < c.rows; ++i) {
    for (std::int64_t j = 0; j < c.cols; ++j) {
      long double exact = 0, sizes = 0;
      for (std::int64_t l = 0; l < a.cols; ++l) {
        const long double term = static_cast<long double>(a(i, l)) * b(l, j);
        exact += term;
        sizes += std::abs(term);
      }
      const long double off = std::abs(c(i, j) - exact);
      squared_error += off * off;
      squared += exact * exact;
      const auto least = static_cast<long double>(k * 0x1p-149);
      const long double bound = (k / 4 + 160) * u * sizes + least;
      error.of_bound = std::max(error.of_bound, static_cast<double>(off / bound));
      if (sizes > least) {
        error.componentwise = std::max(error.componentwise, static_cast<double>(off / sizes / u));
      }
      if (std::isnan(c(i, j))) error.of_bound = infinity;
    }
  }
  error.normwise = std::sqrt(static_cast<double>(squared_error / squared));
  return error;
}

std::vector<const RungInfo*> split_rungs() {
  std::vector<const RungInfo*> rungs;
  for (const RungInfo* rung : rungs_under_test("gemm", "cuda")) {
    const bool has_f32 = cuda::has(*cuda::find_gemm_rung(rung->id), Dtype::f32);
    if (rung->compute_mode == ComputeMode::split && has_f32) rungs.push_back(rung);
  }
  return rungs;
}

struct Family {
  const char* name;
  Factors<float> factors;
};

/// Inputs that are hard for halves, for one scale per row, or for sums.
std::vector<Family> families(std::int64_t m, std::int64_t n, std::int64_t k) {
  const auto make = [&](const auto& element) { return filled(m, n, k, element); };
  const auto normal = [](Source& s, auto, auto) { return s.normal(); };
  std::vector<Family> all;
  all.push_back({"normal", make(normal)});
  all.push_back({"uniform", make([](Source& s, auto, auto) { return s.uniform(0, 1); })});
  all.push_back({"just above one",  // every low half matters, and all have the same sign
                 make([](Source& s, auto, auto) { return s.uniform(1, 1 + 0x1p-11); })});
  all.push_back({"rows and columns by 10^+-12", make([](Source& s, std::int64_t extent, auto) {
                   return s.normal() * static_cast<float>(std::pow(10, extent % 25 - 12));
                 })});
  all.push_back({"elements by 2^+-12",
                 make([](Source& s, auto, auto) { return s.normal() * s.power_of_two(-12, 12); })});
  all.push_back({"elements by 2^+-40",
                 make([](Source& s, auto, auto) { return s.normal() * s.power_of_two(-40, 40); })});
  all.push_back({"subnormal", make([](Source& s, std::int64_t extent, auto) {
                   return s.normal() * (extent % 2 == 0 ? 0x1p-135f : 1.0f);
                 })});
  all.push_back({"cancelling", make([=](Source& s, auto, std::int64_t l) {
                   return (l < k / 2 ? 1.0f : -1.0f) + s.normal() * 0x1p-16f;
                 })});
  for (std::int64_t l = 0; l < k; ++l) {  // half of the products cancel the other half
    for (std::int64_t j = 0; j < n; ++j) all.back().factors.b(l, j) = 1.0f;
  }
  all.push_back({"large times zero",  // leaves a sum of elements far below the largest of their row
                 make([](Source& s, auto, auto) { return s.normal() * 0x1p-30f; })});
  for (std::int64_t i = 0; i < m; ++i) all.back().factors.a(i, 5) = 0x1p30f;
  for (std::int64_t j = 0; j < n; ++j) all.back().factors.b(5, j) = j % 2 == 0 ? 0.0f : 0x1p-60f;
  return all;
}

class SplitRungs : public testing::TestWithParam<const RungInfo*> {};

TEST_P(SplitRungs, ErrorsAreAtMostThoseOfFloat) {
  constexpr std::int64_t k = 577;
  for (const auto& [name, factors] : families(37, 41, k)) {
    const ProductError plain = error_of(plain_product(factors), factors);
    for (const bool transposed : {false, true}) {
      const ProductError ours = error_of(product(*GetParam(), factors, transposed), factors);
      if (!transposed) {
        std::printf("%-28s normwise %.1e (float %.1e), componentwise %.1f u (float %.1f u)\n", name,
                    ours.normwise, plain.normwise, ours.componentwise, plain.componentwise);
      }
      EXPECT_LE(ours.of_bound, 1) << name;
      // Three products of halves have errors themselves, visible where one of them is most of a
      // sum.
      EXPECT_LE(ours.normwise, std::max(plain.normwise, 3 * u)) << name;
      EXPECT_LE(ours.componentwise, std::max(plain.componentwise, 8.0)) << name;
    }
  }
}

TEST_P(SplitRungs, InfinitiesAndNanStayInTheirRowsAndColumns) {
  Factors<float> factors = filled(70, 35, 130, [](Source& s, auto, auto) { return s.normal(); });
  put_infinities_and_nan(factors);
  expect_like(product(*GetParam(), factors), plain_product(factors), 1e-4);
}

TEST_P(SplitRungs, ScaledSumsNeitherOverflowNorUnderflowOnTheWay) {
  const Factors<float> factors = filled(8, 8, 65, [](Source&, std::int64_t extent, auto) {
    return extent % 2 == 0 ? 0x1.8p126f : 0x1.8p-126f;
  });
  const Dense<float> c = product(*GetParam(), factors);
  EXPECT_EQ(c(0, 1), 65 * 2.25f);
  EXPECT_EQ(c(1, 0), 65 * 2.25f);
  EXPECT_EQ(c(0, 0), infinity);
  EXPECT_EQ(c(1, 1), 0);
}

TEST_P(SplitRungs, ZerosAreZeros) {
  const Factors<float> factors = filled(5, 6, 70, [](Source& s, std::int64_t extent, auto) {
    return extent == 0 ? 0.0f : extent == 1 ? -0.0f : s.normal();
  });
  const Dense<float> c = product(*GetParam(), factors);
  for (std::int64_t i = 0; i < c.rows; ++i) {
    for (std::int64_t j = 0; j < c.cols; ++j) EXPECT_EQ(c(i, j) == 0, i < 2 || j < 2);
  }
}

INSTANTIATE_TEST_SUITE_P(Virtual, SplitRungs, testing::ValuesIn(split_rungs()), test_name_of_rung);

}  // namespace
}  // namespace rung
