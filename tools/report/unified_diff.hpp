#pragma once
// The difference of two texts, in the format of diff -u and git.

#include <string>
#include <string_view>

namespace rung {

struct NamedText {
  std::string_view name, text;
};

/// Hunks with three lines of context; empty if the texts are equal. With `colour`, removed lines
/// are red and added lines green, by terminal escape sequences.
std::string unified_diff(const NamedText& from, const NamedText& to, bool colour);

}  // namespace rung
