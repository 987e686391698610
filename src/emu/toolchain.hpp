#pragma once
// From a .cu file to a program that runs on the virtual GPU. clang compiles the file twice: the
// device's half to PTX (or nvcc does, with CUDA's own headers), the host's half with that PTX
// inside, and links the result with the runtime library (librung_emu.so), which carries the CUDA
// runtime API and the virtual GPU.

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace rung::emu {

/// Where this project's own headers and runtime library lie.
struct Installation {
  std::filesystem::path include;  // with cuda_runtime.h
  std::filesystem::path library;  // librung_emu.so
};

/// Looks beside this executable (the build folder) and in its prefix (an installed tree). Throws
/// MissingTool, naming both places.
Installation find_installation();

/// clang++ 19 or later, or what RUNG_CLANG names. Throws MissingTool.
std::string find_clang();

/// nvcc on the PATH or in /usr/local/cuda/bin. Throws MissingTool.
std::string find_nvcc();

/// Something that is needed here and is not installed.
struct MissingTool : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The source is wrong; the compiler or linker has said so on standard error, or what() does.
struct CompileError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct CompileOptions {
  std::filesystem::path source;
  std::vector<std::string> passed;  // to the compiler as they are: -I… -D… -std=… -O…
  std::string architecture;         // "sm_90"
  std::string nvcc;                 // compiles the device's half; empty: clang does
};

/// Returns the program, made in `folder`. Throws CompileError.
std::filesystem::path compile(const CompileOptions& options, const Installation& installation,
                              const std::string& clang, const std::filesystem::path& folder);

/// External functions that a PTX text calls and that the virtual GPU does not have. Throws
/// vgpu::ptx::ParseError, with the line, for what the virtual GPU could not read later either.
std::vector<std::string> missing_functions(const std::string& ptx);

}  // namespace rung::emu
