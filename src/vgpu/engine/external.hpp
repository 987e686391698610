#pragma once
// Functions that device code calls and does not define: printf, assert, malloc.

#include <cstddef>
#include <optional>
#include <string_view>

#include "vgpu/program/instr.hpp"

namespace rung::vgpu {

struct ExternalFunction {
  Handler handler;  // Instr::imm points at an ExternalCall
  std::size_t arguments;
};

/// vprintf, __assertfail, malloc and free, as CUDA declares them (CUDA C++ Programming Guide,
/// "Formatted Output", "Assertion", "Dynamic Global Memory Allocation").
std::optional<ExternalFunction> external_function(std::string_view name);

}  // namespace rung::vgpu
