#pragma once
// Wide arithmetic and error bounds, shared by the verification of gemm and dot.

#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "core/dtype_traits.hpp"
#include "core/problem.hpp"
#include "core/random.hpp"
#include "core/verify.hpp"
#include "rung/options.hpp"

namespace rung {

/// The type in which references are summed: exact modulo 2^32 for integers.
template <class In>
using Wide =
    std::conditional_t<std::is_integral_v<In>, std::uint32_t,
                       std::conditional_t<std::is_same_v<In, double>, long double, double>>;

template <class In>
Wide<In> widen(In value) {
  if constexpr (std::is_arithmetic_v<In>) {
    return static_cast<Wide<In>>(value);
  } else {
    return static_cast<float>(value);
  }
}

/// |value|; 0 for integers, which need no error bound.
template <class W>
W magnitude(W value) {
  if constexpr (std::is_integral_v<W>) {
    return 0;
  } else {
    return std::abs(value);
  }
}

/// The unit roundoff: half the distance from 1 to the next larger number; 0 for integers.
template <class T>
constexpr T unit_roundoff = std::numeric_limits<T>::epsilon() / 2;

template <>
inline constexpr double unit_roundoff<bfloat16> = 0x1p-8;
template <>
inline constexpr double unit_roundoff<float16> = 0x1p-11;

/// The largest absolute error that underflow adds to one operation; a sum may be flushed to 0.
template <class T>
constexpr T underflow = std::numeric_limits<T>::min();
template <>
inline constexpr double underflow<bfloat16> = 0x1p-126;
template <>
inline constexpr double underflow<float16> = 0x1p-25;

/// True for types that only tensor cores multiply.
template <class In>
constexpr bool is_for_tensor_cores =
    !std::is_same_v<In, float> && !std::is_same_v<In, double> && !std::is_integral_v<In>;

/// The largest relative error of adding a product to a sum: rounding to nearest, doubled for tensor
/// cores, because they truncate addends (Fasi, Higham, Mikaitis and Pranesh, PeerJ Computer Science
/// 7:e330, 2021).
template <class In, class Out>
constexpr auto sum_roundoff = (is_for_tensor_cores<In> ? 2 : 1) * unit_roundoff<Scalar<Out>>;

/// The largest error relative to |A||B| that does not depend on the number of products. For tf32,
/// two roundings to 11 bits. For 8-bit floats, the tensor cores of sm_90 keep 14 bits of a sum of
/// products (DeepSeek-V3 Technical Report, arXiv:2412.19437, 3.3.2): sums are promoted to float
/// after four instructions, and in each of these, 32 products and the previous sum lose up to
/// 2^-13.
template <class In>
constexpr double product_error = sizeof(In) == 1 && !std::is_integral_v<In> ? 4 * 33 * 0x1p-13 : 0;
template <>
inline constexpr double product_error<tfloat32> = 0x1p-10 + 0x1p-22;

/// For f32 as products of f16 halves (docs/accuracy.md): 8 u for omitted products of halves, 144 u
/// for truncation by tensor cores in the four instructions of a slab of 64 k-steps, and 8 u for
/// scaling by alpha and beta.
inline constexpr double split_product_error = 160 * 0x1p-24;

/// For f32 as integers of three digits (docs/accuracy.md), relative to the norms of a row and a
/// column: 560 u for rounding to integers and for omitted products, and 8 u for scaling by alpha
/// and beta.
inline constexpr double digits_product_error = 568 * 0x1p-24;

/// For f64 as residues (docs/accuracy.md), relative to the norms of a row and a column. Rounding to
/// integers loses 0.05 sqrt(k) u, which is at most k u / 4096 + 3 u; rounding the sum and scaling
/// it by alpha and beta lose 8 u.
inline constexpr double residues_product_error = 11 * 0x1p-53;

/// The errors of a compute mode that enter the bound of verify.hpp.
struct ArithmeticError {
  double sum;      // adding a product to a sum, relative to the result of the addition
  double product;  // a product, relative to |A||B|, or to the norms if is_by_norms()
};

template <class In, class Out>
constexpr ArithmeticError arithmetic_error(ComputeMode mode) {
  switch (mode) {
    case ComputeMode::standard:
    case ComputeMode::batch_invariant: return {sum_roundoff<In, Out>, product_error<In>};
    case ComputeMode::split:
      if constexpr (std::is_same_v<In, double>)
        return {unit_roundoff<double> / 4096, residues_product_error};
      return {unit_roundoff<Scalar<Out>> / 4, split_product_error};
    case ComputeMode::reproducible:
      if constexpr (std::is_integral_v<In>) return {0, 0};
      return {unit_roundoff<Scalar<Out>> / 1024, digits_product_error};
  }
  return {0, 0};  // an unknown mode: only exact results are right
}

/// True if the bound of a mode uses ||row of A|| ||column of B|| (Euclidean norms) instead of
/// |A||B|.
template <class In>
constexpr bool is_by_norms(ComputeMode mode) {
  return mode == ComputeMode::reproducible ||
         (mode == ComputeMode::split && std::is_same_v<In, double>);
}

/// |got - expected| / bound. 0 if they are equal or both NaN; infinite if they differ and the bound
/// is 0 or a value is not finite.
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

/// The verdict for an error that does not concern a single element.
inline Verdict wrong(std::string message) {
  return {false, std::numeric_limits<double>::infinity(), std::move(message)};
}

/// Verifies with the values of the spec. If these are reals and `exact_run` is true, verifies again
/// with small integers. `run_values(values)` fills, runs and checks.
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
  if (verdict.right && exact_run && reals && !is_integer(spec.dtype)) {
    const Verdict exact = named(run_once(Values::integers), " as small integers");
    if (!exact.right) verdict = exact;
    problem.fill();
  }
  return verdict;
}

}  // namespace rung
