#pragma once
// The file that `rung tune` keeps its results in.

#include <string>

#include "backends/cuda/tuned.hpp"

namespace rung {

class TunedFile {
 public:
  /// That of the user's cache for a device if `path` is empty. Finds out before any work is done
  /// whether results can be added to it: throws UsageError if not.
  TunedFile(const std::string& path, const std::string& device);

  const std::string& path() const { return path_; }

  /// Adds one result to what is there by now, or replaces that of the same problem. Throws
  /// std::runtime_error if the file cannot be written, or is no longer what it was.
  void add(const cuda::TunedShape& tuned) const;

 private:
  std::string read() const;

  std::string path_;
  std::string device_;
};

}  // namespace rung
