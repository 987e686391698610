#pragma once
// Suggestions for error messages about misspelled names.

#include <span>
#include <string>
#include <string_view>

namespace rung {

/// "; did you mean 'lda'?" for the known name with the smallest edit distance: the number of
/// inserted, deleted, replaced or transposed characters (Damerau, CACM 7, 1964). Empty if the
/// distance exceeds 2 or a third of the name's length. Ignores case.
std::string did_you_mean(std::string_view name, std::span<const std::string_view> known);

}  // namespace rung
