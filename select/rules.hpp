#pragma once
// The conditions that selection rules for CPUs and for GPUs share. A table of rules is read from the top; the
// first match decides.

#include <cstdint>
#include <limits>

#include "core/dtype.hpp"
#include "rung/options.hpp"

namespace rung {

/// A set of dtypes: of(Dtype::f32, Dtype::f64).
class Dtypes {
 public:
  template <class... D>
  static constexpr Dtypes of(D... dtypes) {
    return Dtypes((0u | ... | bit(dtypes)));
  }
  static constexpr Dtypes all() { return Dtypes(~0u); }

  friend constexpr Dtypes operator|(Dtypes x, Dtypes y) { return Dtypes(x.bits_ | y.bits_); }

  constexpr bool has(Dtype dtype) const { return (bits_ & bit(dtype)) != 0; }

 private:
  explicit constexpr Dtypes(unsigned bits) : bits_(bits) {}
  static constexpr unsigned bit(Dtype dtype) { return 1u << static_cast<unsigned>(dtype); }

  unsigned bits_;
};

inline constexpr std::int64_t any_size = std::numeric_limits<std::int64_t>::max();
/// Work is a double, because m * n * k may exceed 2^63.
inline constexpr double any_work = std::numeric_limits<double>::infinity();

/// True if a kernel of one compute mode may compute in another: the promises of standard include those of
/// split, and for integers all promises.
constexpr bool fits_mode(ComputeMode rung, ComputeMode asked, Dtype dtype) {
  if (rung == asked) return true;
  return rung == ComputeMode::standard && (asked == ComputeMode::split || is_integer(dtype));
}

namespace detail {

/// The fastest rungs of dot already sum in a fixed order.
constexpr DotMode mode_of_rule(DotMode asked) {
  return asked == DotMode::fast ? DotMode::deterministic : asked;
}

}  // namespace detail

template <class Shape>
double work_of(const Shape& shape) {
  return static_cast<double>(shape.m) * static_cast<double>(shape.n) * static_cast<double>(shape.k);
}

/// True if the type, the mode, the extents and the storage orders of a problem are those of a rule for products.
template <class Rule, class Shape>
bool covers(const Rule& rule, const Shape& shape, double work) {
  return rule.dtypes.has(shape.dtype) &&
         fits_mode(rule.compute_mode, shape.compute_mode, shape.dtype) && rule.min_m <= shape.m &&
         shape.m <= rule.max_m &&                           //
         rule.min_n <= shape.n && shape.n <= rule.max_n &&  //
         rule.min_k <= shape.k && shape.k <= rule.max_k && work <= rule.max_work &&
         rule.a.value_or(shape.a) == shape.a && rule.b.value_or(shape.b) == shape.b;
}

}  // namespace rung
