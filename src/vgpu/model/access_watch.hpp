#pragma once
// Every access of a warp, address by address, for whoever wants to draw it.

#include <array>
#include <cstdint>
#include <functional>

namespace rung::vgpu {

/// One access of a warp to global or shared memory.
struct WarpAccess {
  std::uint64_t block = 0;  // in the grid, as one number
  int warp = 0;             // in the block
  std::uint32_t site = 0;   // of sites(kernel)
  bool shared = false;
  bool load = false;                        // no store, no atomic
  std::uint32_t lanes = 0;                  // a bit for each that takes part
  std::uint32_t bytes = 0;                  // of a lane
  std::array<std::uint64_t, 32> address{};  // by lane; of shared memory, from its first byte on
  int units = 0;                            // sectors, or wavefronts
};

/// Is told of each access of a launch, one at a time, by whichever thread runs the block: within a
/// block in the order of the program, blocks side by side. It must not launch anything.
using AccessWatcher = std::function<void(const WarpAccess& access)>;

}  // namespace rung::vgpu
