#pragma once
// The file in which `rung tune` stores its results.

#include <string>

#include "select/cuda/tuned.hpp"

namespace rung {

/// Where results go: `named`, by -o, or else `of_cache`, whose folder is made. Checks before any work
/// is done that they can be written: throws UsageError if not, or if there is neither.
std::string results_path(const std::string& named, const std::string& of_cache);

/// The contents of a file; empty if it does not exist.
std::string text_of(const std::string& path);

class TunedFile {
 public:
  /// The file of the user's cache for a device if `path` is empty. Checks before any work is done
  /// that results can be added to it: throws UsageError if not.
  TunedFile(const std::string& path, const std::string& device);

  const std::string& path() const { return path_; }

  /// Adds one result to the current contents, or replaces the result for the same problem. Throws
  /// std::runtime_error if the file cannot be written, or is no longer valid.
  void add(const cuda::TunedShape& tuned) const;

 private:
  std::string read() const;

  std::string path_;
  std::string device_;
};

}  // namespace rung
