#pragma once
// SIMD code for accesses to shared memory by the lanes of a warp, if a few comparisons show that
// they are ordered after all earlier accesses, which is the common case.

#include <array>
#include <cstddef>
#include <cstdint>

#include "vgpu/happens_before/shared_shadow.hpp"
#include "vgpu/model/warp.hpp"

namespace rung::vgpu {

/// Disjoint ranges of granules that several threads access, with the same number of granules each.
struct SharedPlaces {
  explicit SharedPlaces(std::size_t of_each) : granules(of_each) {}

  std::size_t granules;                        // per access
  std::size_t count = 0;                       // number of accesses
  std::array<std::uint32_t, warp_size> first;  // first granule of each access
  std::array<Stamp, warp_size> thread;         // thread of each access, by number in the block
  std::array<Stamp, warp_size> stamp;          // stamp to record for each access

  void add(std::size_t granule, int number, Stamp record) {
    first[count] = static_cast<std::uint32_t>(granule);
    thread[count] = static_cast<Stamp>(number);
    stamp[count++] = record;
  }
};

/// Checks and records writes by the instruction at `site`. Returns false, without recording, if
/// is_plainly_ordered() is false for an access to some granule.
bool write_if_ordered(SharedShadow& shadow, Stamp safe, const SharedPlaces& places,
                      std::uint32_t site);

/// True if all granules were written before `safe`. Does not use threads or stamps of `places`.
bool are_written_before(const SharedShadow& shadow, Stamp safe, const SharedPlaces& places);

}  // namespace rung::vgpu
