#pragma once
// Compiles Metal kernels for the virtual GPU where a program runs, as cmake/MetalRungs.cmake does
// where the rungs are built.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace rung::emu {

/// The text as clang reads it: cmake/MetalSource.cmake says why it must differ. Lines stay where
/// they are, in a file of that name.
std::string metal_source(std::string_view text, std::string_view name);

/// PTX of a text that metal_source() made. `options` are the user's: "-Ifolder", "-DN=4". Messages
/// of the compiler go to standard error. Throws CompileError, and MissingTool without clang.
std::string compile_metal(const std::string& source, const std::vector<std::string>& options,
                          const std::filesystem::path& folder);

}  // namespace rung::emu
