#pragma once
// Device code of a learner's file, or of a solution.

#include <filesystem>
#include <string>

#include "learn/exercise.hpp"
#include "learn/kernel_form.hpp"

namespace rung::learn {

struct Code {
  std::string ptx;
  const KernelForm& form;
  Language language;
};

/// In CUDA, the PTX has the file's kernel and `launch_entry`, which stores what launch() returns. In
/// Metal, it has the entry `metal_entry` for its kernel, and its constants
/// (backends/metal/dispatch_constants.hpp). Compiler messages go to standard error. Throws
/// emu::MissingTool without clang, and emu::CompileError for a file that does not compile, or has no
/// kernel of the exercise's form.
Code compile(const Exercise& exercise, const std::filesystem::path& file);

/// Its places are those of "solution.cu", or "solution.metal".
Code compile_solution(const Exercise& exercise);
std::string solution_name(const Exercise& exercise);

inline constexpr const char* metal_entry = "rung_learn_entry";
inline constexpr const char* launch_entry = "rung_learn_launch";

}  // namespace rung::learn
