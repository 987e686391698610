#pragma once
// The list of a backend's rungs.

#include <string_view>

namespace rung {

/// A rung with its catalog id.
template <class Rung>
struct NamedRung {
  std::string_view id;
  const Rung* rung;
};

/// The entry with that id, or null.
template <class List>
constexpr auto find_named(const List& rungs, std::string_view id) {
  for (const auto& named : rungs) {
    if (named.id == id) return &named;
  }
  return decltype(rungs.data()){nullptr};
}

/// The rung of that entry, or null.
template <class List>
constexpr auto find_rung(const List& rungs, std::string_view id) {
  const auto* const named = find_named(rungs, id);
  return named == nullptr ? nullptr : named->rung;
}

}  // namespace rung
