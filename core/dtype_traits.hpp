#pragma once
// Maps element types to dtypes and back. The types of rung/types.hpp are only declared here: a file that
// reads their values includes that header as well.

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>

#include "core/element_types.hpp"

namespace rung {

inline constexpr std::array all_dtypes = {
#define RUNG_DTYPE(suffix, In, Out) Dtype::suffix,
    RUNG_DTYPES(RUNG_DTYPE)
#undef RUNG_DTYPE
};

/// True if dot products and sums support a dtype.
constexpr bool is_for_dot(Dtype dtype) {
  switch (dtype) {
#define RUNG_CASE(suffix, In, Out) case Dtype::suffix:
    RUNG_DOT_DTYPES(RUNG_CASE)
#undef RUNG_CASE
    return true;
    default: return false;
  }
}

#define RUNG_VISIT(suffix, In, Out) \
  case Dtype::suffix: return std::forward<F>(f)(Elements<In, Out>{});

/// visit() for a dtype with is_for_dot().
template <class F>
constexpr decltype(auto) visit_dot(Dtype dtype, F&& f) {
  switch (dtype) {
    RUNG_DOT_DTYPES(RUNG_VISIT)
    default: __builtin_unreachable();
  }
}

/// Calls f with the Elements<In, Out> of a dtype: visit(dtype, [&]<class In, class
/// Out>(Elements<In, Out>) {…}).
template <class F>
constexpr decltype(auto) visit(Dtype dtype, F&& f) {
  switch (dtype) {
    RUNG_DTYPES(RUNG_VISIT)
    default: __builtin_unreachable();
  }
}

#undef RUNG_VISIT

/// The dtype with inputs In and results Out; if Out is void, with the widest results for In.
template <class In, class Out = void>
consteval Dtype dtype_of() {
  std::optional<Dtype> found;
  for (const Dtype dtype : all_dtypes) {
    const bool matches = visit(dtype, []<class I, class O>(Elements<I, O>) {
      return std::is_same_v<I, In> && (std::is_void_v<Out> || std::is_same_v<O, Out>);
    });
    if (matches && !found) found = dtype;
  }
  return found.value();  // throws, and so fails to compile, if there is no such dtype
}

constexpr bool is_integer(Dtype dtype) {
  return visit(dtype,
               []<class In, class Out>(Elements<In, Out>) { return std::is_integral_v<In>; });
}

/// The dtype whose inputs have the type of this dtype's results.
constexpr Dtype output_type(Dtype dtype) {
  return visit(dtype, []<class In, class Out>(Elements<In, Out>) { return dtype_of<Out>(); });
}

/// The dtype with the same inputs whose results have the type of the sums.
constexpr Dtype unrounded(Dtype dtype) {
  return visit(dtype, []<class In, class Out>(Elements<In, Out>) { return dtype_of<In>(); });
}

/// One dtype per input type, the one with the widest results.
inline constexpr auto unrounded_dtypes = [] {
  constexpr auto is_unrounded = [](Dtype dtype) { return unrounded(dtype) == dtype; };
  std::array<Dtype, std::ranges::count_if(all_dtypes, is_unrounded)> dtypes = {};
  std::ranges::copy_if(all_dtypes, dtypes.begin(), is_unrounded);
  return dtypes;
}();

}  // namespace rung
