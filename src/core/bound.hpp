#pragma once
// What the verification of both operations shares: wide arithmetic, and error against bound.

#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "core/random.hpp"
#include "core/verify.hpp"

namespace rung {

/// The type that references are summed in: exact modulo 2^32 for integers.
template <class In>
using Wide =
    std::conditional_t<std::is_integral_v<In>, In,
                       std::conditional_t<std::is_same_v<In, double>, long double, double>>;

template <class In>
Wide<In> widen(In value) {
  if constexpr (std::is_arithmetic_v<In>) {
    return value;
  } else {
    return static_cast<float>(value);
  }
}

/// |value|; of integers, which need no error bound, 0.
template <class W>
W magnitude(W value) {
  if constexpr (std::is_integral_v<W>) {
    return 0;
  } else {
    return std::abs(value);
  }
}

/// Half the distance from 1 to the next larger number; of integers, 0.
template <class T>
constexpr T unit_roundoff = std::numeric_limits<T>::epsilon() / 2;

/// The largest relative error of adding a product to a sum. That of rounding to nearest; twice as
/// much for 16-bit elements, because tensor cores truncate what they add (Fasi, Higham, Mikaitis
/// and Pranesh, PeerJ Computer Science 7:e330, 2021).
template <class In, class Out>
constexpr Out sum_roundoff = (sizeof(In) == 2 ? 2 : 1) * unit_roundoff<Out>;

/// |got - expected| / bound: 0 if they are equal or both NaN, infinite if they differ where the
/// bound is 0 or anything is not finite.
template <class W>
double error_ratio(W got, W expected, W bound) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (got == expected) return 0;
  if constexpr (std::is_integral_v<W>) {
    return infinity;
  } else {
    if (std::isnan(got) && std::isnan(expected)) return 0;
    const bool finite = std::isfinite(got) && std::isfinite(expected) && std::isfinite(bound);
    return finite && bound > 0 ? static_cast<double>(std::abs(got - expected) / bound) : infinity;
  }
}

/// What was found apart from an element that is off.
inline Verdict wrong(std::string message) {
  return {false, std::numeric_limits<double>::infinity(), std::move(message)};
}

/// Verifies with the values of the spec and then, if these are reals and `exact_run` says that the
/// operation allows it, as small integers. `run_values(values)` fills, runs and checks.
template <class Case, class RunValues>
Verdict verify_runs(Case& problem, bool exact_run, const RunValues& run_values) {
  const auto& spec = problem.spec();
  const auto run_once = [&](Values values) {
    try {
      return run_values(values);
    } catch (const KernelError& error) {
      return wrong(error.what());
    }
  };
  const auto named = [&](Verdict verdict, std::string_view kind) {
    if (!verdict.right)
      verdict.message = describe(spec) + std::string(kind) + ": " + verdict.message;
    return verdict;
  };
  const bool reals =
      spec.values == Values::reals || spec.values == Values::tiny || spec.values == Values::wide;
  Verdict verdict = named(run_once(spec.values), "");
  if (verdict.right && exact_run && reals && spec.dtype != Dtype::i32) {
    const Verdict exact = named(run_once(Values::integers), " as small integers");
    if (!exact.right) verdict = exact;
    problem.fill();
  }
  return verdict;
}

}  // namespace rung
