#pragma once
// nvcc's command line (NVIDIA CUDA Compiler Driver, "NVCC Command Options"), as far as it means
// something for the virtual GPU. Options about machine code, optimisation of ptxas and the like are
// read and ignored.

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "emu/compile/toolchain.hpp"

namespace rung::emu {

struct NvccOptions {
  enum class Phase { link, compile, ptx, preprocess, dependencies, device_link, archive };

  CompileOptions compile;  // architecture: the newest of those given that is in the devices' reach
  Phase phase = Phase::link;
  std::string device_suffix = ".ptx";     // of device code alone: .cubin and .fatbin are PTX, too
  std::filesystem::path output;           // empty: as nvcc names it
  std::filesystem::path output_folder;    // of -odir, for files without a name
  std::vector<std::string> dependencies;  // -MD -MF FILE -MT TARGET, for the host's compiler
  std::string listed_prefix;              // --list-gpu-arch: "compute_", --list-gpu-code: "sm_"
  bool wants_version = false, dry_run = false, verbose = false, openmp = false;
};

/// A bad command line.
struct NvccUsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Reads the option at words[at] and steps past it and its value. False, with `at` as it was, for a
/// word that is no option of nvcc's. Throws NvccUsageError if its value is missing.
bool take_nvcc_option(const std::vector<std::string>& words, std::size_t& at, NvccOptions& options);

/// Reads a whole command line, without the program's name. Files of options (@FILE, -optf) are read.
/// Throws NvccUsageError for an unknown option.
NvccOptions parse_nvcc(const std::vector<std::string>& words);

/// After all words were taken: chooses the architecture if none was given, and turns OpenMP on if
/// `clang` has a runtime for it.
void finish_nvcc_options(NvccOptions& options, const std::string& clang);

}  // namespace rung::emu
