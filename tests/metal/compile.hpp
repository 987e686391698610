#pragma once
// Compiles Metal in a test, in the same way as the build compiles the rungs.

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "emu/compile/metal/metal.hpp"
#include "emu/compile/toolchain.hpp"

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

/// Compiles all kernels of a text.
inline Compiled compile(const std::string& source) {
  emu::metal::Options options;
  options.compiler = {"-std=c++14",
                      "-Wc++17-extensions",
                      "-Wall",
                      "-Wextra",
                      "-Werror",
                      "-Wno-unused-const-variable",
                      "-Wno-duplicate-decl-specifier"};
  options.text = source;
  options.is_quiet = true;
  try {
    return {true, "", emu::metal::compile_all("test.metal", options)};
  } catch (const emu::CompileError& error) {
    return {false, error.what(), ""};
  }
}

}  // namespace rung::metal_tests
