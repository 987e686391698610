#pragma once
// Reports every access of a warp, with all addresses, for access maps.

#include <array>
#include <cstdint>
#include <functional>

namespace rung::vgpu {

/// One access of a warp to global or shared memory.
struct WarpAccess {
  std::uint64_t block = 0;  // linear index in the grid
  int warp = 0;             // index in the block
  std::uint32_t site = 0;   // index in sites(kernel)
  bool shared = false;
  bool load = false;                        // false for stores and atomics
  std::uint32_t lanes = 0;                  // one bit per active lane
  std::uint32_t bytes = 0;                  // per lane
  std::array<std::uint64_t, 32> address{};  // per lane; shared: offset in the block
  int units = 0;                            // sectors, or wavefronts
};

/// Called for each access of a launch, one at a time, on the thread that runs the block: in program
/// order within a block, interleaved between blocks. It must not launch kernels.
using AccessWatcher = std::function<void(const WarpAccess& access)>;

}  // namespace rung::vgpu
