#pragma once
// Temporary folders.

#include <stdlib.h>  // mkdtemp

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

namespace rung {

/// Creates a folder `prefix`XXXXXX in $TMPDIR, or in /tmp if that is empty or not set, and returns
/// its absolute path. Throws std::runtime_error with the parent folder and the reason.
inline std::filesystem::path make_temporary_folder(const std::string& prefix) {
  const char* const set = std::getenv("TMPDIR");
  const std::filesystem::path parent = set == nullptr || *set == '\0' ? "/tmp" : set;
  std::string name = (std::filesystem::absolute(parent) / (prefix + "XXXXXX")).string();
  if (mkdtemp(name.data()) == nullptr) {
    const int reason = errno;
    throw std::runtime_error("no temporary folder can be made in " + parent.string() + ": " +
                             std::generic_category().message(reason) +
                             "; set TMPDIR to a folder that can be written");
  }
  return name;
}

/// A temporary folder, removed with its contents unless it is to be kept.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::string& prefix = "rung-", bool keep = false)
      : path_(make_temporary_folder(prefix)), keep_(keep) {}
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!keep_) std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  bool keep_;
};

}  // namespace rung
