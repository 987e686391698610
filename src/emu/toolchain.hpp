#pragma once
// Compiles a .cu file to a program that runs on the virtual GPU. clang compiles the file twice:
// device code to PTX (or nvcc does, with CUDA's own headers), and host code with that PTX embedded.
// It links the result with the runtime library (librung_emu.so), which contains the CUDA runtime
// API and the virtual GPU.

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace rung::emu {

/// The locations of this project's own headers and runtime library.
struct Installation {
  std::filesystem::path include;  // with cuda_runtime.h
  std::filesystem::path library;  // librung_emu.so
};

/// Searches next to this executable (the build folder) and in its prefix (an installed tree).
/// Throws MissingTool, naming both.
Installation find_installation();

/// clang++ 19 or later, or the value of RUNG_CLANG. Throws MissingTool.
std::string find_clang();

/// nvcc on the PATH or in /usr/local/cuda/bin. Throws MissingTool.
std::string find_nvcc();

/// A required tool is not installed.
struct MissingTool : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The source has errors, which the compiler or linker has printed on standard error, or what()
/// contains.
struct CompileError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct CompileOptions {
  std::filesystem::path source;
  std::vector<std::string> passed;  // passed to the compiler unchanged: -I… -D… -std=… -O…
  std::string architecture;         // "sm_90"
  std::string nvcc;                 // compiles device code; empty: clang does
};

/// Returns the path of the program, which is created in `folder`. Throws CompileError.
std::filesystem::path compile(const CompileOptions& options, const Installation& installation,
                              const std::string& clang, const std::filesystem::path& folder);

/// External functions that the PTX calls and the virtual GPU lacks. Throws vgpu::ptx::ParseError,
/// with the line, for PTX that the virtual GPU could not parse later either.
std::vector<std::string> missing_functions(const std::string& ptx);

}  // namespace rung::emu
