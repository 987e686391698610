#include "tools/measure/random/sampled_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "core/bound.hpp"
#include "core/dtype_traits.hpp"
#include "core/stratified.hpp"
#include "rung/types.hpp"

namespace rung {
namespace {

constexpr std::int64_t max_rows = 32, max_columns = 32;
constexpr std::int64_t max_products = 1 << 21;  // about 20 ms on one CPU

/// Iterates over the elements along a row or column of a matrix in the repeated sequence.
template <class T>
class Walk {
 public:
  Walk(std::span<const T> elements, std::int64_t begin, std::int64_t stride)
      : elements_(elements),
        period_(static_cast<std::int64_t>(elements.size())),
        at_(begin % period_),
        stride_(stride % period_) {}

  Wide<T> next() {
    const Wide<T> value = widen(elements_[static_cast<std::size_t>(at_)]);
    at_ += stride_;
    if (at_ >= period_) at_ -= period_;
    return value;
  }

 private:
  std::span<const T> elements_;
  std::int64_t period_, at_, stride_;
};

/// The sum of the products, and the sum of their magnitudes.
template <class In>
std::pair<Wide<In>, Wide<In>> dot_product(const PooledGemm& problem, std::int64_t row,
                                          std::int64_t col) {
  const GemmCall& call = problem.call;
  const auto elements = problem.elements->as<In>();
  Walk<In> a(elements, row * call.a.row_stride, call.a.col_stride);
  Walk<In> b(elements, problem.b_begin + col * call.b.col_stride, call.b.row_stride);
  Wide<In> sum = 0, magnitudes = 0;
  for (std::int64_t k = 0; k < call.k; ++k) {
    const Wide<In> product = a.next() * b.next();
    sum += product;
    magnitudes += magnitude(product);
  }
  return {sum, magnitudes};
}

/// The error bound of core/verify.hpp for alpha = 1 and beta or C = 0.
template <class In, class Out>
Wide<In> error_bound(std::int64_t k, Wide<In> expected, Wide<In> magnitudes) {
  using W = Wide<In>;
  if constexpr (std::is_integral_v<In>) {
    return 0;
  } else {
    const W u = static_cast<W>(sum_roundoff<In, Out>) + unit_roundoff<W>;
    const W summing =
        static_cast<W>(k + 4) *
        (u * magnitudes + 2 * underflow<Scalar<Out>>)+static_cast<W>(product_error<In>) *
        magnitudes;
    const W rounding = static_cast<W>(unit_roundoff<Out>) * magnitude(expected);
    return (1 + static_cast<W>(unit_roundoff<Out>)) * summing + rounding +
           static_cast<W>(underflow<Out>);
  }
}

}  // namespace

SampledCheck::SampledCheck(const PooledGemm& problem, std::uint64_t seed)
    : dtype_(problem.call.dtype), n_(problem.call.n) {
  const GemmCall& call = problem.call;
  const std::int64_t rows = std::min(call.m, max_rows);
  const std::int64_t affordable = std::max<std::int64_t>(max_products / (rows * call.k), 2);
  const std::int64_t columns = std::min({call.n, max_columns, affordable});
  visit(dtype_, [&]<class In, class Out>(Elements<In, Out>) {
    for (const std::int64_t row : stratified(call.m, rows, seed)) {
      const auto row_seed = seed ^ random_bits(seed, static_cast<std::uint64_t>(row));
      for (const std::int64_t col : stratified(call.n, columns, row_seed)) {
        const auto [expected, magnitudes] = dot_product<In>(problem, row, col);
        const auto bound = error_bound<In, Out>(call.k, expected, magnitudes);
        samples_.push_back(
            {row, col, static_cast<long double>(expected), static_cast<long double>(bound)});
      }
    }
  });
}

std::string SampledCheck::error(const ProblemPool& pool) const {
  return visit(dtype_, [&]<class In, class Out>(Elements<In, Out>) {
    std::vector<Out> row(static_cast<std::size_t>(n_));
    std::int64_t row_here = -1;
    double worst = 1;
    std::string message;
    for (const Sample& sample : samples_) {
      if (sample.row != row_here)
        pool.download_row(sample.row, std::as_writable_bytes(std::span(row)));
      row_here = sample.row;
      const Wide<In> got = widen(row[static_cast<std::size_t>(sample.col)]);
      const double ratio = error_ratio(got, static_cast<Wide<In>>(sample.expected),
                                       static_cast<Wide<In>>(sample.bound));
      if (!(ratio > worst)) continue;
      worst = ratio;
      message =
          fmt::format("C({}, {}) is {}, expected {} within {:.3g}", sample.row, sample.col, got,
                      static_cast<Wide<In>>(sample.expected), static_cast<double>(sample.bound));
    }
    return message;
  });
}

}  // namespace rung
