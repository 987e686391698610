#pragma once
// Names of the source that PTX no longer has, from the text of the lines it came from.

#include <string>
#include <string_view>

#include "vgpu/ptx/module.hpp"

namespace rung::analysis::diagnosis {

/// The source line of an instruction; empty if its file cannot be read.
std::string source_line(const vgpu::ptx::Module& text, const vgpu::ptx::Instruction& instruction);

/// The array of the thread that a line indexes: the name before a "[" that the file declares as
/// `float v[64];`. Empty if none is found.
std::string array_in_line(std::string_view line, std::string_view file);

/// The same, for an instruction.
std::string array_of(const vgpu::ptx::Module& text, const vgpu::ptx::Instruction& instruction);

/// True if the line accesses a member of an element, as `p[i].x`.
bool accesses_member(std::string_view line);

}  // namespace rung::analysis::diagnosis
