#pragma once
// The difference of two texts, as diff -u and git write it.

#include <string>
#include <string_view>

namespace rung {

struct NamedText {
  std::string_view name, text;
};

/// Hunks with three lines of context; empty if the texts are equal. With `colour`, lines that go
/// are red and lines that come are green, by the terminal's escape sequences.
std::string unified_diff(const NamedText& from, const NamedText& to, bool colour);

}  // namespace rung
