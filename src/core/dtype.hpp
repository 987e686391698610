#pragma once
// Element types: their names on the command line, and the C++ types behind them.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "core/element_types.hpp"
#include "rung/types.hpp"

namespace rung {

inline constexpr std::array all_dtypes = {
#define RUNG_DTYPE(suffix, In, Out) Dtype::suffix,
    RUNG_DTYPES(RUNG_DTYPE)
#undef RUNG_DTYPE
};

/// The name as a part of an identifier: "bf16_bf16".
constexpr std::string_view identifier(Dtype dtype) {
  constexpr std::array<std::string_view, all_dtypes.size()> identifiers = {
#define RUNG_IDENTIFIER(suffix, In, Out) #suffix,
      RUNG_DTYPES(RUNG_IDENTIFIER)
#undef RUNG_IDENTIFIER
  };
  return identifiers[static_cast<std::size_t>(dtype)];
}

namespace detail {

/// The identifier with dashes: "bf16-bf16".
template <std::size_t SIZE>
struct Dashed {
  std::array<char, SIZE> text = {};

  consteval explicit Dashed(std::string_view identifier) {
    for (std::size_t i = 0; i < SIZE; ++i) text[i] = identifier[i] == '_' ? '-' : identifier[i];
  }
  constexpr std::string_view view() const { return {text.data(), SIZE}; }
};

template <Dtype dtype>
inline constexpr Dashed<identifier(dtype).size()> dashed{identifier(dtype)};

}  // namespace detail

/// The name on the command line.
constexpr std::string_view name(Dtype dtype) {
  constexpr std::array<std::string_view, all_dtypes.size()> names = {
#define RUNG_NAME(suffix, In, Out) detail::dashed<Dtype::suffix>.view(),
      RUNG_DTYPES(RUNG_NAME)
#undef RUNG_NAME
  };
  return names[static_cast<std::size_t>(dtype)];
}

constexpr std::optional<Dtype> parse_dtype(std::string_view text) {
  for (const Dtype dtype : all_dtypes) {
    if (name(dtype) == text) return dtype;
  }
  return std::nullopt;
}

/// Whether the dot product and the sum have a dtype.
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

/// visit() for a dtype that is_for_dot().
template <class F>
constexpr decltype(auto) visit_dot(Dtype dtype, F&& f) {
  switch (dtype) {
    RUNG_DOT_DTYPES(RUNG_VISIT)
    default: __builtin_unreachable();
  }
}

/// Calls f with the Elements<In, Out> of a dtype, as in visit(dtype, [&]<class In, class
/// Out>(Elements<In, Out>) {…}).
template <class F>
constexpr decltype(auto) visit(Dtype dtype, F&& f) {
  switch (dtype) {
    RUNG_DTYPES(RUNG_VISIT)
    default: __builtin_unreachable();
  }
}

#undef RUNG_VISIT

/// The dtype of two types. Out is the type of the results; void means the widest that In has.
template <class In, class Out = void>
consteval Dtype dtype_of() {
  std::optional<Dtype> found;
  for (const Dtype dtype : all_dtypes) {
    const bool matches = visit(dtype, []<class I, class O>(Elements<I, O>) {
      return std::is_same_v<I, In> && (std::is_void_v<Out> || std::is_same_v<O, Out>);
    });
    if (matches && !found) found = dtype;
  }
  return found.value();  // throws, and so does not compile, where no dtype has these types
}

constexpr bool is_integer(Dtype dtype) {
  return visit(dtype,
               []<class In, class Out>(Elements<In, Out>) { return std::is_integral_v<In>; });
}

/// The dtype whose inputs have the type of this one's results.
constexpr Dtype output_type(Dtype dtype) {
  return visit(dtype, []<class In, class Out>(Elements<In, Out>) { return dtype_of<Out>(); });
}

/// The dtype with the same inputs and sums whose results are not rounded to 16 bits.
constexpr Dtype unrounded(Dtype dtype) {
  return visit(dtype, []<class In, class Out>(Elements<In, Out>) { return dtype_of<In>(); });
}

inline std::size_t input_bytes(Dtype dtype) {
  return visit(dtype, []<class In, class Out>(Elements<In, Out>) { return sizeof(In); });
}

inline std::size_t output_bytes(Dtype dtype) {
  return visit(dtype, []<class In, class Out>(Elements<In, Out>) { return sizeof(Out); });
}

}  // namespace rung
