#pragma once
// Device code of a learner's file.

#include <filesystem>
#include <string>

#include "learn/kernel_form.hpp"

namespace rung::learn {

/// PTX of the file, its kernel and `launch_entry`, which stores what launch() returns. Compiler
/// messages go to standard error. Throws emu::CompileError for a file that does not compile, or has
/// no kernel of this form.
std::string compile(const std::filesystem::path& file, const KernelForm& form,
                    const std::filesystem::path& folder);

/// PTX of a Metal file, with the entry `metal_entry` for its kernel and its constants
/// (backends/metal/dispatch_constants.hpp). Throws as compile() does.
std::string compile_metal(const std::filesystem::path& file, const KernelForm& form,
                          const std::filesystem::path& folder);

inline constexpr const char* metal_entry = "rung_learn_entry";
inline constexpr const char* launch_entry = "rung_learn_launch";

}  // namespace rung::learn
