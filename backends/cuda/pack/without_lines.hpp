#pragma once
// Removes line tables, which only debuggers and profilers read, from compiled CUDA code.

#include <string>
#include <string_view>

namespace rung::cuda {

/// Removes .loc, .file, and .section directives with their contents, which hold only debug
/// information.
std::string ptx_without_lines(std::string_view ptx);

/// Empties the sections .debug_line, .debug_str and .nv_debug_*. Section numbers, alignment and all
/// other bytes are unchanged. Throws std::runtime_error if the input is not a complete 64-bit ELF
/// file.
std::string cubin_without_lines(std::string_view cubin);

}  // namespace rung::cuda
