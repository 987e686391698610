// The rung of compute mode split for f64 on the virtual GPU: its error on inputs that are hard for
// integers, compared with that of a chain of FMAs, and the treatment of infinities and NaN.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <random>

#include "core/rung.hpp"
#include "factors.hpp"

namespace rung {
namespace {

constexpr double u = 0x1p-53;
constexpr double infinity = std::numeric_limits<double>::infinity();

using Normal = std::function<double()>;
/// Arguments: an element's row of A or column of B, and its index along k.
using Element = std::function<double(const Normal& normal, std::int64_t extent, std::int64_t k)>;

Factors<double> filled(std::int64_t m, std::int64_t n, std::int64_t k, const Element& element) {
  std::mt19937_64 engine(1);
  std::normal_distribution<double> distribution;
  const Normal normal = [&] { return distribution(engine); };
  return rung::filled<double>(
      m, n, k, [&](std::int64_t extent, std::int64_t l) { return element(normal, extent, l); });
}

Dense<double> product(const Factors<double>& factors, bool transposed = false) {
  return rung::product(*select({"gemm/cuda/residues"}).front(), factors, transposed);
}

struct ProductError {
  double normwise;       // ||C - exact|| / ||exact||, Frobenius norm
  double componentwise;  // maximum of |C - exact| / |A||B|, in u
  double by_norms;       // maximum of |C - exact| / (||row|| ||column||), in u
};

ProductError error_of(const Dense<double>& c, const Factors<double>& factors) {
  const auto& [a, b] = factors;
  long double squared_error = 0, squared = 0;
  ProductError error{0, 0, 0};
  for (std::int64_t i = 0; i < c.rows; ++i) {
    for (std::int64_t j = 0; j < c.cols; ++j) {
      long double exact = 0, sizes = 0, squares_a = 0, squares_b = 0;
      for (std::int64_t l = 0; l < a.cols; ++l) {
        const long double x = a(i, l), y = b(l, j);
        exact += x * y;
        sizes += std::abs(x * y);
        squares_a += x * x;
        squares_b += y * y;
      }
      const long double off = std::abs(c(i, j) - exact) / u;
      squared_error += off * off;
      squared += exact * exact;
      const long double norms = std::sqrt(squares_a) * std::sqrt(squares_b);
      if (sizes > 0x1p-960) {  // below, underflow dominates
        error.componentwise = std::max(error.componentwise, static_cast<double>(off / sizes));
        error.by_norms = std::max(error.by_norms, static_cast<double>(off / norms));
      }
      if (std::isnan(c(i, j))) error.by_norms = infinity;
    }
  }
  error.normwise = u * std::sqrt(static_cast<double>(squared_error / squared));
  return error;
}

struct Family {
  const char* name;
  Element element;
};

const Family families[] = {
    {"normal", [](const Normal& normal, auto, auto) { return normal(); }},
    {"of one sign", [](const Normal& normal, auto, auto) { return std::abs(normal()); }},
    {
        "just above one",
        [](const Normal& x, auto, auto) { return 1 + std::abs(x()) * 0x1p-26; },
    },
    {"rows and columns by 10^+-120",
     [](const Normal& normal, std::int64_t extent, auto) {
       return normal() * std::pow(10, 10 * (extent % 25 - 12));
     }},
    {"subnormal", [](const Normal& normal, std::int64_t extent,
                     auto) { return normal() * (extent % 2 == 0 ? 0x1p-1060 : 1.0); }},
    {"elements by exp(2 normal)",
     [](const Normal& normal, auto, auto) { return normal() * std::exp(2 * normal()); }},
    {"elements by 2^+-40",
     [](const Normal& normal, auto, std::int64_t l) {
       return normal() * (l % 2 == 0 ? 0x1p40 : 0x1p-40);
     }},
    {"cancelling", [](const Normal& normal, auto,
                      std::int64_t l) { return (l % 2 == 0 ? 1.0 : -1.0) + normal() * 0x1p-40; }},
};

TEST(ResidueRung, ErrorsAreWithinTheBoundAndThoseOfAChain) {
  constexpr std::int64_t k = 577;
  for (const auto& [name, element] : families) {
    const Factors<double> factors = filled(37, 41, k, element);
    const ProductError plain = error_of(plain_product(factors), factors);
    for (const bool transposed : {false, true}) {
      const ProductError ours = error_of(product(factors, transposed), factors);
      if (!transposed) {
        std::printf("%-28s normwise %.1e (chain %.1e), componentwise %.2f u (%.2f u)\n", name,
                    ours.normwise, plain.normwise, ours.componentwise, plain.componentwise);
      }
      EXPECT_LE(ours.by_norms, 0.05 * std::sqrt(k) + 4) << name;
      EXPECT_LE(ours.normwise, plain.normwise) << name;
      EXPECT_LE(ours.componentwise, plain.componentwise) << name;
    }
  }
}

TEST(ResidueRung, InfinitiesAndNanStayInTheirRowsAndColumns) {
  Factors<double> factors = filled(70, 35, 130, families[0].element);
  put_infinities_and_nan(factors);
  expect_like(product(factors), plain_product(factors), 1e-12);
}

TEST(ResidueRung, ScaledSumsNeitherOverflowNorUnderflowOnTheWay) {
  const Factors<double> factors = filled(8, 8, 65, [](const Normal&, std::int64_t extent, auto) {
    return extent % 2 == 0 ? 0x1.8p1022 : 0x1.8p-1022;
  });
  const Dense<double> c = product(factors);
  EXPECT_EQ(c(0, 1), 65 * 2.25);
  EXPECT_EQ(c(1, 0), 65 * 2.25);
  EXPECT_EQ(c(0, 0), infinity);
  EXPECT_EQ(c(1, 1), 0);
}

TEST(ResidueRung, ZerosAreZeros) {
  const Factors<double> factors =
      filled(5, 6, 70, [](const Normal& normal, std::int64_t extent, auto) {
        return extent == 0 ? 0.0 : extent == 1 ? -0.0 : normal();
      });
  const Dense<double> c = product(factors);
  for (std::int64_t i = 0; i < c.rows; ++i) {
    for (std::int64_t j = 0; j < c.cols; ++j) EXPECT_EQ(c(i, j) == 0, i < 2 || j < 2);
  }
}

}  // namespace
}  // namespace rung
