#pragma once
// Functions that device code calls but does not define: printf, assert, malloc, launches.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "vgpu/model/instr.hpp"

namespace rung::vgpu {

struct ExternalFunction {
  Handler handler;                       // Instr::imm points at an ExternalCall
  std::vector<std::uint32_t> arguments;  // size of each in bytes
  std::uint32_t result;                  // size in bytes; 0: no result
};

/// Returns vprintf, __assertfail, malloc, free, cudaGetParameterBufferV2 or cudaLaunchDeviceV2, as
/// CUDA declares them (CUDA C++ Programming Guide, "Formatted Output", "Assertion", "Dynamic Global
/// Memory Allocation", "CUDA Dynamic Parallelism"); nullopt for other names.
std::optional<ExternalFunction> external_function(std::string_view name);

}  // namespace rung::vgpu
