#pragma once
// Compiling Metal in a test, as the build compiles the rungs.

#include <stdlib.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace rung::metal_tests {

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Compiled {
  bool succeeded;
  std::string messages, ptx;
};

/// A folder that goes with the test.
class Folder {
 public:
  Folder() {
    std::string path = (std::filesystem::temp_directory_path() / "rung_metal_XXXXXX").string();
    path_ = mkdtemp(path.data());
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }

  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

/// `options` come last: "-O3 -S", "-fsyntax-only".
inline Compiled compile(const std::string& source, const std::string& options) {
  const Folder folder;
  std::ofstream(folder.file("test.metal")) << source;
  std::string prepare = RUNG_METAL_SOURCE;  // -D comes before -P
  prepare.insert(prepare.find(" -P "), " -D INPUT=" + folder.file("test.metal") + " -D OUTPUT=" +
                                           folder.file("test.cpp") + " -D NAME=test.metal");
  const std::string command = prepare + " && " RUNG_METAL_CLANG " " + options + " " +
                              folder.file("test.cpp") + " -o " + folder.file("test.ptx") + " 2>&1";
  std::FILE* const pipe = popen(command.c_str(), "r");
  std::string messages;
  std::array<char, 4096> buffer;
  while (const std::size_t read = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    messages.append(buffer.data(), read);
  }
  const bool succeeded = pclose(pipe) == 0;
  return {succeeded, messages, read_file(folder.file("test.ptx"))};
}

}  // namespace rung::metal_tests
