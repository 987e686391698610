#pragma once
// Metal libraries as files: what `metal -c` and `metallib` write (.air, .metallib) in a build for the
// virtual GPU. A kernel is compiled when a program makes a pipeline of it, because function constants
// are known only then, so a library is JSON with the preprocessed texts.

#include <filesystem>
#include <map>
#include <string>

#include "emu/compile/metal/library_json.hpp"

namespace rung::emu::metal {

/// Compiles the file as far as a library needs it. Throws CompileError and MissingTool.
LibrarySource make_library_source(const std::filesystem::path& file, const Options& options);

void write_library(const std::filesystem::path& path, const Library& library);
/// Throws std::runtime_error if the file cannot be read, or is no such library.
Library read_library(const std::filesystem::path& path);

/// Compiles the kernel of a library. Throws CompileError.
LibraryKernel compile_library_kernel(const Library& library, const std::string& kernel,
                                     const std::map<std::string, std::string>& constants);

}  // namespace rung::emu::metal
