#pragma once
// Compiles a learner's file or a solution to device code.

#include <filesystem>
#include <optional>
#include <string>

#include "tools/learn/exercise.hpp"
#include "tools/learn/kernel_form.hpp"

namespace rung::learn {

struct Code {
  std::string ptx;
  const KernelForm& form;
  Language language;
  std::string target;  // Exercise::target
};

/// In CUDA, the PTX contains the file's kernel and `launch_entry`, which stores the value returned
/// by launch(). In Metal, it contains the kernel and its
/// constants (backends/metal/dispatch_constants.hpp). Compiler messages go to standard error.
/// Throws emu::MissingTool if clang is not installed, and emu::CompileError if the file does not
/// compile or has no kernel of the exercise's form.
Code compile(const Exercise& exercise, const std::filesystem::path& file);
/// Compiles a text as if the file had it, without messages. Empty if it does not compile.
std::optional<Code> compile_text(const Exercise& exercise, const std::filesystem::path& file,
                                 const std::string& text);

/// Source locations refer to "solution.cu" or "solution.metal".
Code compile_solution(const Exercise& exercise);
std::string solution_name(const Exercise& exercise);

inline constexpr const char* launch_entry = "rung_learn_launch";

}  // namespace rung::learn
