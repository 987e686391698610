#include "core/errors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/bound.hpp"
#include "core/chunks.hpp"
#include "core/dtype_traits.hpp"
#include "core/stratified.hpp"
#include "rung/types.hpp"

namespace rung {
namespace {

constexpr std::int64_t max_rows = 32, max_columns = 32;
constexpr std::int64_t max_products = 1 << 23;  // takes about a second on one CPU

}  // namespace

bool ExactElements::can_measure(const GemmSpec& spec) {
  const bool is_product = spec.alpha == 1 && spec.beta == 0 && !is_integer(spec.dtype);
  return is_product && spec.m > 0 && spec.n > 0;
}

ExactElements::ExactElements(const GemmCase& problem) {
  const GemmSpec& spec = problem.spec();
  const std::int64_t rows = std::min(spec.m, max_rows);
  const std::int64_t affordable =
      std::max<std::int64_t>(max_products / (rows * std::max<std::int64_t>(spec.k, 1)), 2);
  const std::int64_t columns = std::min({spec.n, max_columns, affordable});
  for (const std::int64_t row : stratified(spec.m, rows, spec.seed)) {
    const auto row_seed = spec.seed ^ random_bits(spec.seed, static_cast<std::uint64_t>(row));
    for (const std::int64_t col : stratified(spec.n, columns, row_seed)) {
      elements_.push_back({row, col, {}, 0});
    }
  }
  visit(spec.dtype, [&]<class In, class Out>(Elements<In, Out>) {
    const Gemm<In, Out> g = problem.product(0).typed<In, Out>();
    for_each_chunk(std::ssize(elements_), 1, [&](std::int64_t i, std::int64_t, auto) {
      Element& element = elements_[static_cast<std::size_t>(i)];
      for (std::int64_t k = 0; k < g.k; ++k) {
        const auto a = static_cast<double>(widen(g.a(element.row, k)));
        const auto b = static_cast<double>(widen(g.b(k, element.col)));
        element.sum.add_product(a, b);
        element.magnitude += std::abs(a * b);
      }
    });
  });
}

ElementErrors ExactElements::errors_of(const GemmCase& problem) const {
  return visit(problem.spec().dtype, [&]<class In, class Out>(Elements<In, Out>) {
    const Gemm<In, Out> g = problem.product(0).typed<In, Out>();
    constexpr auto u = static_cast<double>(unit_roundoff<Out>);
    constexpr double infinity = std::numeric_limits<double>::infinity();
    ElementErrors errors;
    // long double: squares of doubles may overflow.
    long double of_errors = 0, of_exact = 0;
    for (const auto& [row, col, sum, magnitude] : elements_) {
      const auto got = static_cast<double>(widen(g.c(row, col)));
      if (!std::isfinite(got)) return ElementErrors{infinity, infinity};
      ExactSum difference = sum;
      difference.add(-got);
      const double error = std::abs(difference.value());
      const double relative = error == 0 ? 0 : error / magnitude / u;
      errors.largest = std::max(errors.largest, relative);
      of_errors += static_cast<long double>(error) * error;
      of_exact += static_cast<long double>(sum.value()) * sum.value();
    }
    if (of_errors > 0) errors.normwise = static_cast<double>(std::sqrt(of_errors / of_exact));
    return errors;
  });
}

}  // namespace rung
