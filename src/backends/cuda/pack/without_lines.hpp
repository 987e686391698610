#pragma once
// Compiled CUDA code without its line tables, which only debuggers and profilers read.

#include <string>
#include <string_view>

namespace rung::cuda {

/// PTX without .loc, .file, and its sections, which hold nothing else.
std::string ptx_without_lines(std::string_view ptx);

/// Machine code with empty sections in the place of .debug_line, .debug_str and .nv_debug_*.
/// Section numbers, alignment and all other bytes stay. Throws std::runtime_error for what is not a
/// 64-bit ELF file, or is cut short.
std::string cubin_without_lines(std::string_view cubin);

}  // namespace rung::cuda
