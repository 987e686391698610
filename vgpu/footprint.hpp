#pragma once
// Properties of a launch's accesses that its counters do not show: reuse of bytes, the distribution
// of work among blocks and warps, and contention of atomics for one address.

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "vgpu/model/access_watch.hpp"
#include "vgpu/model/launch.hpp"

namespace rung::vgpu {

/// Sectors that the loads of one instruction request, in all and as far as nothing, their block or their
/// warp has loaded them before.
struct SiteLoads {
  std::uint64_t requested = 0, first = 0, by_block = 0, by_warp = 0;
  bool operator==(const SiteLoads&) const = default;
};

/// The counts of a launch's footprint. Sectors are the 32-byte sectors of global memory that it accesses,
/// each counted once.
struct FootprintCounts {
  std::uint64_t loaded_sectors = 0, stored_sectors = 0;
  std::uint64_t sectors = 0;  // loaded, stored or both
  /// 64-byte pieces, as DRAM returns them, with at least one loaded sector.
  std::uint64_t loaded_pieces = 0;
  /// Loaded sectors, once for each block: the sectors that L1 must fetch if it keeps everything
  /// that a block rereads.
  std::uint64_t loaded_sectors_by_block = 0;
  /// Loaded sectors, once for each warp. The warps of a block load at about the same time, so all
  /// of them wait for a sector that one of them loads first.
  std::uint64_t loaded_sectors_by_warp = 0;
  /// Sectors that a warp loads again after at least 16 of its other accesses: later passes over the
  /// same data, which only a cache as large as the data can hold.
  std::uint64_t reloaded_sectors = 0;
  /// Sectors of all stores, each as often as it is stored, and the number of these that are stored
  /// without some of their bytes. Consecutive stores of at most 16 bytes per lane that fill a
  /// sector together count as one, because a compiler may have split them.
  std::uint64_t store_sectors = 0, partly_stored_sectors = 0;
  // Sectors of all accesses, and their number if each contiguous piece of a warp's access started
  // at a sector boundary.
  std::uint64_t requested_sectors = 0, aligned_sectors = 0;
  // L1 turns of all loads and of all stores. A line has four columns of sectors; in one turn, L1
  // serves one sector of each column, from any lines.
  std::uint64_t load_turns = 0, store_turns = 0;
  std::uint64_t loaded_lines_by_block = 0;  // like loaded_sectors_by_block, for 128-byte lines
  // Warp-level accesses to global and shared memory: total, maximum over blocks, and maximum over
  // all warps.
  std::uint64_t accesses = 0, max_of_block = 0, max_of_warp = 0;
  /// Sum over blocks of the maximum over the block's warps.
  std::uint64_t accesses_of_longest_warps = 0;
  /// Number of atomics, by threads, at the address in global memory with the most of them.
  std::uint64_t atomics_at_one_address = 0;
  /// Passes of atomics in global memory. L2 adds to different words of a sector at once; lanes of a warp
  /// with the same address take a pass each. In all, and in the unit of 512 bytes with the most of them:
  /// a slice of L2 has such units.
  std::uint64_t atomic_passes = 0, atomic_passes_of_unit = 0;
  std::uint64_t shared_atomic_turns = 0;  // lanes of a warp at the same address take turns

  bool operator==(const FootprintCounts&) const = default;
};

struct Footprint : FootprintCounts {
  std::map<int, SiteLoads> loads;  // by line of PTX; empty if the counts are extrapolated
  bool operator==(const Footprint&) const = default;
};

/// Observes the accesses of consecutive launches (LaunchOptions::watcher). Run blocks one after the
/// other: concurrent blocks may count a sector of a block twice.
class FootprintRecorder {
 public:
  void see(const WarpAccess& access);
  /// The footprint of the accesses since the last call. `sites`: the kernel's sites.
  Footprint take(const std::vector<Site>& sites);

 private:
  struct Sector {
    bool loaded = false, stored = false;
    std::uint64_t last_block = ~std::uint64_t{0};  // last block that loaded it
    std::uint32_t warps = 0;  // warps of that block that loaded it, one bit each
    std::uint64_t last_warp = ~std::uint64_t{0};  // last warp of the grid that loaded it
    std::uint64_t last_access = 0;                // number of that warp's accesses before
  };
  /// Stores and atomics of one instruction. Lanes of a warp that contend take turns.
  struct Meetings {
    std::unordered_map<std::uint64_t, std::uint64_t> lanes;  // by address
    std::unordered_map<std::uint64_t, std::uint64_t> passes_of_unit;
    std::uint64_t passes = 0, turns = 0;
  };
  void see_global(const WarpAccess& access);
  void see_sectors(const WarpAccess& access);
  void end_row_of_stores();
  void see_meetings(const WarpAccess& access);

  /// Consecutive stores of one warp, without stores of other warps in between.
  struct RowOfStores {
    std::uint64_t warp = ~std::uint64_t{0};
    std::uint32_t bytes = 0;                           // per lane, over all of them
    std::map<std::uint64_t, std::uint64_t> of_sector;  // bytes stored in each sector
  };

  Footprint footprint_;
  RowOfStores row_;
  std::unordered_map<std::uint64_t, Sector> sectors_;            // by address / 32
  std::unordered_map<std::uint64_t, std::uint64_t> line_block_;  // by address / 128: last loader
  std::map<std::uint32_t, Meetings> meetings_;                   // by site
  std::vector<SiteLoads> loads_;                                 // by site
  std::unordered_map<std::uint64_t, std::uint64_t> of_block_, of_warp_;
};

}  // namespace rung::vgpu
