#pragma once
// Remembers the number of hints shown to a learner. Each check with the same finding shows one
// more.

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string_view>

namespace rung::learn {

/// The hints shown for one file, stored in $XDG_CACHE_HOME/rung/learn (by default
/// ~/.cache/rung/learn). If the directory is not writable, no hints are remembered.
class HintMemory {
 public:
  explicit HintMemory(const std::filesystem::path& file);

  /// The number of hints shown by the last check; 0 if its finding was a different one.
  std::size_t told(std::string_view finding) const;
  void remember(std::string_view finding, std::size_t told) const;
  void forget() const;

 private:
  std::optional<std::filesystem::path> memory_;
};

}  // namespace rung::learn
