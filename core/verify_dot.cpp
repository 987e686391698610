#include <fmt/format.h>

#include <atomic>
#include <vector>

#include "core/bound.hpp"
#include "core/chunks.hpp"
#include "core/dtype_traits.hpp"
#include "core/exact_sum.hpp"
#include "core/verify.hpp"
#include "rung/types.hpp"

namespace rung {
namespace {

/// The exact sum and the quantities that its error bound needs.
struct Reference {
  long double expected = 0;
  long double error = 0;
  long double magnitude = 0;  // |x|.|y|
};

/// Element i of y, or 1 for a plain sum.
template <class In>
Wide<In> y_at(const Dot<In>& dot, std::int64_t i) {
  return dot.y == nullptr ? Wide<In>{1} : widen(dot.y[i * dot.incy]);
}

constexpr std::int64_t chunk = 1 << 20;  // terms that one thread adds as one task

/// Sums in long double; the relative error is at most n times its unit roundoff.
template <class In>
Reference long_reference(const Dot<In>& dot, double got) {
  std::vector<Reference> parts(chunks_of(dot.n, chunk));
  for_each_chunk(dot.n, chunk, [&](std::int64_t first, std::int64_t last, std::int64_t part) {
    Reference sums;
    for (std::int64_t i = first; i < last; ++i) {
      const long double product = static_cast<long double>(widen(dot.x[i * dot.incx])) *
                                  static_cast<long double>(y_at(dot, i));
      sums.expected += product;
      sums.magnitude += std::abs(product);
    }
    parts[part] = sums;
  });
  Reference reference;
  for (const Reference& part : parts) {
    reference.expected += part.expected;
    reference.magnitude += part.magnitude;
  }
  reference.error = std::abs(got - reference.expected);
  return reference;
}

/// Sums without rounding, so that ill-conditioned sums have a reference, too.
template <class In>
Reference exact_reference(const Dot<In>& dot, double got) {
  std::vector<ExactSum> sums(chunks_of(dot.n, chunk));
  std::vector<long double> magnitudes(sums.size());
  for_each_chunk(dot.n, chunk, [&](std::int64_t first, std::int64_t last, std::int64_t part) {
    ExactSum sum;
    long double magnitude = 0;
    for (std::int64_t i = first; i < last; ++i) {
      const auto x = static_cast<double>(widen(dot.x[i * dot.incx]));
      const auto y = static_cast<double>(y_at(dot, i));
      sum.add_product(x, y);
      magnitude += std::abs(x * y);
    }
    sums[part] = std::move(sum);
    magnitudes[part] = magnitude;
  });
  Reference reference;
  ExactSum sum;
  for (const ExactSum& part : sums) sum.add(part);
  for (const long double magnitude : magnitudes) reference.magnitude += magnitude;
  reference.expected = sum.value();
  if (std::isfinite(got)) {
    sum.add(-got);
    reference.error = std::abs(sum.value());
  }
  return reference;
}

/// Integer sums wrap modulo 2^32 and must match exactly.
Verdict check_integers(const Dot<std::uint32_t>& dot, double got) {
  std::atomic<std::uint32_t> expected = 0;
  for_each_chunk(dot.n, chunk, [&](std::int64_t first, std::int64_t last, auto) {
    std::uint32_t sum = 0;
    for (std::int64_t i = first; i < last; ++i) sum += dot.x[i * dot.incx] * y_at(dot, i);
    expected += sum;
  });
  if (got == expected) return {true, 0, ""};
  return wrong(fmt::format("the sum is {}, expected {}", got, expected.load()));
}

/// The error bound of verify.hpp.
template <class Out>
long double error_bound(const DotSpec& spec, const Reference& reference) {
  constexpr long double u = unit_roundoff<Out>;
  const auto n = static_cast<long double>(spec.n + 2);
  const long double rounding = u * std::abs(reference.expected);
  if (spec.accuracy == Accuracy::exact) {
    return rounding + std::numeric_limits<Out>::denorm_min() / 2.0L;
  }
  const bool compensated = spec.accuracy == Accuracy::compensated;
  const long double summing = compensated ? n * n * u * u : n * (u + unit_roundoff<long double>);
  const long double underflow = n * std::numeric_limits<Out>::min();
  return summing * reference.magnitude + underflow + rounding;
}

template <class In, class Out>
Verdict check(const DotCase& problem, Values values, double got) {
  const DotSpec& spec = problem.spec();
  const Dot<In> dot = problem.call().typed<In>();
  const bool finite = values != Values::nan && values != Values::infinity;
  const Reference reference = spec.accuracy != Accuracy::plain && finite ? exact_reference(dot, got)
                                                                         : long_reference(dot, got);
  const long double bound = values == Values::integers ? 0 : error_bound<Out>(spec, reference);

  Verdict verdict;
  verdict.max_error_ratio =
      std::isfinite(got) && std::isfinite(reference.expected)
          ? error_ratio(reference.error, 0.0L, bound)
          : error_ratio(static_cast<long double>(got), reference.expected, bound);
  verdict.right = verdict.max_error_ratio <= 1;
  if (!verdict.right) {
    verdict.message =
        fmt::format("the sum is {}, expected {} within {:.3g}", got,
                    static_cast<double>(reference.expected), static_cast<double>(bound));
  }
  return verdict;
}

Verdict run_once(DotCase& problem, Values values,
                 const std::function<double(const DotCall&)>& run) {
  problem.fill(values);
  const std::uint64_t x = problem.x().fingerprint();
  const std::uint64_t y = problem.y().fingerprint();
  const double got = run(problem.call());

  if (const auto place = problem.x().broken_guard()) return wrong("wrote around x: " + *place);
  if (const auto place = problem.y().broken_guard()) return wrong("wrote around y: " + *place);
  if (problem.x().fingerprint() != x) return wrong("changed x");
  if (problem.y().fingerprint() != y) return wrong("changed y");
  return visit_dot(problem.spec().dtype, [&]<class In, class Out>(Elements<In, Out>) {
    if constexpr (std::is_integral_v<In>) {
      return check_integers(problem.call().typed<In>(), got);
    } else {
      return check<In, Out>(problem, values, got);
    }
  });
}

}  // namespace

Verdict verify(DotCase& problem, const std::function<double(const DotCall&)>& run) {
  return verify_runs(problem, true, [&](Values values) { return run_once(problem, values, run); });
}

}  // namespace rung
