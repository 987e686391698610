#pragma once
// Race detection for accesses to global memory whose granules' earlier accesses are all obviously
// ordered before them, in SIMD code: rows, where all lanes access adjacent granules, and lanes that
// access granules of their own.

#include <array>
#include <cstddef>
#include <cstdint>

#include "vgpu/happens_before/global_shadow.hpp"
#include "vgpu/model/warp.hpp"

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

/// Where several threads access: no two of them have a granule in common.
struct GlobalPlaces {
  std::size_t count = 0;
  std::array<std::int64_t, warp_size> first;             // granule of each access
  std::array<GlobalStamp, warp_size> checked, recorded;  // of the thread to check, and to record

  void add(std::uint64_t granule, GlobalStamp check, GlobalStamp record) {
    first[count] = static_cast<std::int64_t>(granule);
    checked[count] = check;
    recorded[count++] = record;
  }
};

/// Such accesses, to `granules` granules each.
struct GlobalLanes {
  const GlobalShadow& shadow;
  const GlobalPlaces& places;
  std::size_t granules;
  std::uint64_t oldest;  // as in GlobalRow
  Stamp safe;
  std::uint16_t site;
  bool atomic;
};

/// Checks and records writes, or atomics; as write_global_row().
bool write_global_lanes(const GlobalLanes& lanes, bool was_read, bool was_reread);
/// Checks reads, and records nothing.
bool check_global_reads(const GlobalLanes& lanes);

}  // namespace rung::vgpu
