#pragma once

#include <cstdint>

#include "device/cuda/entry/launch.hpp"

namespace rung::cuda {

// Grid limits of all devices since compute capability 3.0 (CUDA C++ Programming Guide, "Technical
// Specifications per Compute Capability").
inline constexpr std::int64_t max_grid_x = (std::int64_t{1} << 31) - 1;
inline constexpr std::int64_t max_grid_yz = 65535;

constexpr bool is_possible(const Dim3& grid) {
  return grid.x <= max_grid_x && grid.y <= max_grid_yz && grid.z <= max_grid_yz;
}

}  // namespace rung::cuda
