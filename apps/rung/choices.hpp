#pragma once
// Messages about a name that is not one of those known, with the one that may be meant.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "command_line.hpp"
#include "tools/kernel_file/nearest_name.hpp"

namespace rung {

/// "--layout: 'nx' is not one of nn, nt, tn, tt; did you mean 'nn'?"
inline std::string not_one_of(std::string_view option, std::string_view value,
                              std::span<const std::string_view> known, std::string_view more = "") {
  return fmt::format("{}: '{}' is not one of {}{}{}", option, value, fmt::join(known, ", "), more,
                     did_you_mean(value, known));
}

template <class... Names>
UsageError unknown_choice(std::string_view option, std::string_view value, const Names&... known) {
  const std::array<std::string_view, sizeof...(known)> names = {known...};
  return UsageError(not_one_of(option, value, names));
}

}  // namespace rung
