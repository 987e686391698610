#pragma once
// What the counters of a launch do not tell of its accesses: which bytes recur, how the work is
// divided among blocks and warps, and which address the atomics meet at.

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "vgpu/model/access_watch.hpp"
#include "vgpu/model/launch.hpp"

namespace rung::vgpu {

/// Of one launch. Sectors are the 32-byte sectors of global memory that it accesses, each counted
/// once.
struct Footprint {
  std::uint64_t loaded_sectors = 0, stored_sectors = 0;
  std::uint64_t sectors = 0;  // loaded, stored or both
  /// Pieces of 64 bytes, as DRAM returns them, of which any sector is loaded.
  std::uint64_t loaded_pieces = 0;
  /// Loaded ones once for each block: what L1 must fetch if it keeps all that a block reads again.
  std::uint64_t loaded_sectors_by_block = 0;
  /// The same for each warp: the warps of a block load at about the same time, so that all of them
  /// wait for a sector that any of them is the first to load.
  std::uint64_t loaded_sectors_by_warp = 0;
  /// Of all stores, a sector as often as it is stored, and those of them that are stored without some
  /// of their bytes. Stores in a row of at most 16 bytes a lane that fill a sector together, which a
  /// compiler may have split, count as one.
  std::uint64_t store_sectors = 0, partly_stored_sectors = 0;
  // Sectors of all accesses, and what they would be if each piece of contiguous bytes of a warp
  // began at a sector.
  std::uint64_t requested_sectors = 0, aligned_sectors = 0;
  // Turns of L1 for all loads, and for all stores: a line has four columns of sectors, and in one
  // turn L1 serves a sector of each, of any lines.
  std::uint64_t load_turns = 0, store_turns = 0;
  std::uint64_t loaded_lines_by_block = 0;  // as sectors, for lines of 128 bytes
  // Warp-level accesses to global and shared memory. The warp is of any block.
  std::uint64_t accesses = 0, most_of_block = 0, most_of_warp = 0;
  std::uint64_t accesses_of_longest_warps = 0;  // the sum over blocks
  std::uint64_t atomics_at_one_address =
      0;                                  // by threads, at the address in global memory with most
  std::uint64_t shared_atomic_turns = 0;  // lanes of a warp at the same address take turns

  bool operator==(const Footprint&) const = default;
};

/// Observes the accesses of one launch after the other (LaunchOptions::watcher). Blocks that run
/// at the same time may count a sector of a block twice, so run one after the other.
class FootprintRecorder {
 public:
  void see(const WarpAccess& access);
  /// Of the accesses since the last call; `sites` are the kernel's.
  Footprint take(const std::vector<Site>& sites);

 private:
  struct Sector {
    bool loaded = false, stored = false;
    std::uint64_t last_block = ~std::uint64_t{0};  // that loaded it
    std::uint32_t warps = 0;                       // of that block, which did; a bit each
  };
  /// Stores and atomics of one instruction whose lanes, or most of whose warps, meet.
  struct Meetings {
    std::unordered_map<std::uint64_t, std::uint64_t> lanes;  // by address
    std::uint64_t turns = 0;
  };
  void see_global(const WarpAccess& access);
  void see_sectors(const WarpAccess& access);
  void end_row_of_stores();
  void see_meetings(const WarpAccess& access);

  /// Stores of one warp without those of others in between.
  struct RowOfStores {
    std::uint64_t warp = ~std::uint64_t{0};
    std::uint32_t bytes = 0;                           // a lane, of all of them
    std::map<std::uint64_t, std::uint64_t> of_sector;  // bytes
  };

  Footprint footprint_;
  RowOfStores row_;
  std::unordered_map<std::uint64_t, Sector> sectors_;            // by address / 32
  std::unordered_map<std::uint64_t, std::uint64_t> line_block_;  // by address / 128: loaded last by
  std::map<std::uint32_t, Meetings> meetings_;                   // by site
  std::unordered_map<std::uint64_t, std::uint64_t> of_block_, of_warp_;
};

}  // namespace rung::vgpu
