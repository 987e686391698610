#pragma once
// Accesses to shared memory by the lanes of a warp, of which a few comparisons show that they are
// ordered after all earlier accesses there, in SIMD code. Most are.

#include <array>
#include <cstddef>
#include <cstdint>

#include "vgpu/happens_before/shared_shadow.hpp"
#include "vgpu/model/warp.hpp"

namespace rung::vgpu {

/// The granules that several threads access, the same number each, at distinct places.
struct SharedPlaces {
  explicit SharedPlaces(std::size_t of_each) : granules(of_each) {}

  std::size_t granules;                        // of each access
  std::size_t count = 0;                       // of accesses
  std::array<std::uint32_t, warp_size> first;  // their first granules
  std::array<Stamp, warp_size> thread;         // their threads' numbers in the block
  std::array<Stamp, warp_size> stamp;          // what to record

  void add(std::size_t granule, int number, Stamp record) {
    first[count] = static_cast<std::uint32_t>(granule);
    thread[count] = static_cast<Stamp>(number);
    stamp[count++] = record;
  }
};

/// Checks and records writes by the instruction `site`. False, and nothing is recorded, if some
/// granule has an access of which is_plainly_ordered() does not hold.
bool write_if_ordered(SharedShadow& shadow, Stamp safe, const SharedPlaces& places,
                      std::uint32_t site);

/// Whether all of the granules were written before `safe`. It needs no threads and no stamps.
bool are_written_before(const SharedShadow& shadow, Stamp safe, const SharedPlaces& places);

}  // namespace rung::vgpu
