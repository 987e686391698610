#pragma once
// The names of dtypes on the command line, and the sizes of their elements.

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "core/dtype_traits.hpp"
#include "core/element_types.hpp"
#include "rung/storage_types.hpp"

namespace rung {

/// The name as part of an identifier: "bf16_bf16".
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

constexpr std::size_t input_bytes(Dtype dtype) {
  return visit(dtype, []<class In, class Out>(Elements<In, Out>) { return sizeof(In); });
}

constexpr std::size_t output_bytes(Dtype dtype) {
  return visit(dtype, []<class In, class Out>(Elements<In, Out>) { return sizeof(Out); });
}

/// True for floating-point inputs of one byte.
constexpr bool is_float8(Dtype dtype) { return input_bytes(dtype) == 1 && !is_integer(dtype); }

}  // namespace rung
