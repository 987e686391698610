#pragma once
// Race detection for the most frequent accesses to global memory, in SIMD code: all lanes access
// adjacent granules, and all earlier accesses there are obviously ordered before them.

#include <cstddef>
#include <cstdint>

#include "vgpu/happens_before/global_shadow.hpp"

namespace rung::vgpu {

/// An access by a whole warp: granules from `first` on, 2^lane_shift per lane.
struct GlobalRow {
  const GlobalShadow& shadow;  // copies of it would wait for stores that are still under way
  std::size_t first;
  int lane_shift;
  GlobalStamp stamp;     // of lane 0; those of the other lanes follow
  std::uint64_t oldest;  // smaller stamps are of earlier launches
  Stamp safe;            // smaller ones, of the same block, are ordered before the warp's accesses
  std::uint16_t site;
};

/// Checks and records the access. False, and nothing is recorded, if some granule needs more than
/// these comparisons. `was_read`, `was_reread`: the launch may have recorded reads in the
/// allocation, and second readers. `alone`: no other CPU thread reads at the same time.
bool write_global_row(const GlobalRow& row, bool was_read, bool was_reread);
bool read_global_row(const GlobalRow& row, bool alone);

}  // namespace rung::vgpu
