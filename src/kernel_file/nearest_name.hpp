#pragma once
// For messages about a mistyped name.

#include <span>
#include <string>
#include <string_view>

namespace rung {

/// "; did you mean 'lda'?" for the known name that differs in the fewest inserted, removed,
/// replaced or swapped characters (Damerau, CACM 7, 1964), if that is at most a third of the name
/// and two; otherwise empty. Upper and lower case are the same.
std::string did_you_mean(std::string_view name, std::span<const std::string_view> known);

}  // namespace rung
