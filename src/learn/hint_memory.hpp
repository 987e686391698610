#pragma once
// How many hints a learner has had: one more at each check that finds the same.

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string_view>

namespace rung::learn {

/// Of one learner's file, kept in $XDG_CACHE_HOME/rung/learn (~/.cache if that is not set). Where
/// nothing can be kept, no hint has been told.
class HintMemory {
 public:
  explicit HintMemory(const std::filesystem::path& file);

  /// The hints that the last check told; 0 if it found something else.
  std::size_t told(std::string_view finding) const;
  void remember(std::string_view finding, std::size_t told) const;
  void forget() const;

 private:
  std::optional<std::filesystem::path> memory_;
};

}  // namespace rung::learn
