#pragma once
// SIMD code for race detection in global memory if simple comparisons show that all earlier
// accesses to the granules are ordered before the access: for rows, whose lanes access adjacent
// granules, and for lanes that access separate granules.

#include <array>
#include <cstddef>
#include <cstdint>

#include "vgpu/happens_before/global_shadow.hpp"
#include "vgpu/model/warp.hpp"

namespace rung::vgpu {

/// An access by a whole warp, with 2^lane_shift granules per lane, starting at `first`.
struct GlobalRow {
  const GlobalShadow& shadow;  // not copied: a copy would wait for stores in progress
  std::size_t first;
  int lane_shift;
  GlobalStamp stamp;     // of lane 0; those of the other lanes follow
  std::uint64_t oldest;  // smaller stamps belong to earlier launches
  Stamp safe;            // smaller stamps of the same block are ordered before the warp's accesses
  std::uint16_t site;
};

/// Check and record an access. Return false, without recording, if these comparisons do not suffice
/// for some granule. `was_read`, `was_reread`: the launch may have recorded reads, or second
/// readers, in the allocation. `alone`: no other CPU thread reads at the same time.
bool write_global_row(const GlobalRow& row, bool was_read, bool was_reread);
bool read_global_row(const GlobalRow& row, bool alone);

/// The granules that several threads access; no granule is accessed by two of them.
struct GlobalPlaces {
  std::size_t count = 0;
  std::array<std::int64_t, warp_size> first;  // first granule of each access
  // Stamps of the threads to check, and to record.
  std::array<GlobalStamp, warp_size> checked, recorded;

  void add(std::uint64_t granule, GlobalStamp check, GlobalStamp record) {
    first[count] = static_cast<std::int64_t>(granule);
    checked[count] = check;
    recorded[count++] = record;
  }
};

/// Such accesses, with `granules` granules each.
struct GlobalLanes {
  const GlobalShadow& shadow;
  const GlobalPlaces& places;
  std::size_t granules;
  std::uint64_t oldest;  // see GlobalRow
  Stamp safe;
  std::uint16_t site;
  bool atomic;
};

/// Checks and records writes or atomics, like write_global_row().
bool write_global_lanes(const GlobalLanes& lanes, bool was_read, bool was_reread);
/// Checks reads without recording them.
bool check_global_reads(const GlobalLanes& lanes);

}  // namespace rung::vgpu
