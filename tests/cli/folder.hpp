#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

namespace rung {

/// An empty folder that is gone after the test.
class Folder {
 public:
  Folder()
      : path_(std::filesystem::temp_directory_path() /
              ("rung_cli_" + std::to_string(getpid()) + ".d")) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directory(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }

  std::filesystem::path operator/(const char* name) const { return path_ / name; }
  bool empty() const { return std::filesystem::is_empty(path_); }

 private:
  std::filesystem::path path_;
};

}  // namespace rung
