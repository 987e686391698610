#pragma once
// Functions that device code calls and does not define: printf, assert, malloc, launches.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "vgpu/model/instr.hpp"

namespace rung::vgpu {

struct ExternalFunction {
  Handler handler;                       // Instr::imm points at an ExternalCall
  std::vector<std::uint32_t> arguments;  // bytes of each
  std::uint32_t result;                  // bytes, 0 if there is none
};

/// vprintf, __assertfail, malloc and free, cudaGetParameterBufferV2 and cudaLaunchDeviceV2, as CUDA
/// declares them (CUDA C++ Programming Guide, "Formatted Output", "Assertion", "Dynamic Global
/// Memory Allocation", "CUDA Dynamic Parallelism").
std::optional<ExternalFunction> external_function(std::string_view name);

}  // namespace rung::vgpu
