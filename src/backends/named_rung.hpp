#pragma once
// The list that a backend has of its rungs.

#include <string_view>

namespace rung {

/// A rung with the name that the catalog has for it.
template <class Rung>
struct NamedRung {
  std::string_view id;
  const Rung* rung;
};

/// The entry of such a list; null for an id that none has.
template <class List>
constexpr auto find_named(const List& rungs, std::string_view id) {
  for (const auto& named : rungs) {
    if (named.id == id) return &named;
  }
  return decltype(rungs.data()){nullptr};
}

/// The rung of that entry; null likewise.
template <class List>
constexpr auto find_rung(const List& rungs, std::string_view id) {
  const auto* const named = find_named(rungs, id);
  return named == nullptr ? nullptr : named->rung;
}

}  // namespace rung
