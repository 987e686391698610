#pragma once
// Writes to shared memory by a warp, of which a few comparisons show that they are ordered after all
// earlier accesses there. Most are.

#include <cstddef>
#include <cstdint>

#include "vgpu/happens_before/shared_shadow.hpp"

namespace rung::vgpu {

/// Checks and records a write of `count` granules by each of several threads, at distinct places:
/// `first_of(i)` is the first granule of the i-th thread, and `stamp_of(i)` its stamp. False, and
/// nothing is recorded, if some granule has an access that is not older than `safe`. `Count`: the
/// count, if it is known; otherwise 0.
template <std::size_t Count, class FirstOf, class StampOf>
bool write_if_ordered(SharedShadow& shadow, Stamp safe, std::uint32_t site, int threads,
                      std::size_t count, const FirstOf& first_of, const StampOf& stamp_of) {
  const std::size_t granules = Count != 0 ? Count : count;
  Stamp* const written = shadow.written.data();
  const auto for_each = [&](const auto& f) {
    for (int i = 0; i < threads; ++i) {
      const std::size_t first = first_of(i);
      for (std::size_t at = first; at < first + granules; ++at) f(i, at);
    }
  };
  std::uint32_t doubtful = 0, fresh = 0;
  for_each([&](int, std::size_t at) {
    doubtful |= written[at] >= safe ? 1u : 0u;
    fresh |= written[at] == 0 ? 1u : 0u;
  });
  if (shadow.has_readers) {
    for_each([&](int, std::size_t at) {
      doubtful |= shadow.first_reader[at] >= safe || shadow.other_reader[at] >= safe ? 1u : 0u;
    });
  }
  if (doubtful != 0) return false;
  if (fresh != 0) {
    for (int i = 0; i < threads; ++i) shadow.count_first_writes(first_of(i), granules);
  }
  std::uint32_t* const sites = shadow.write_site.data();
  for_each([&](int i, std::size_t at) {
    written[at] = stamp_of(i);
    sites[at] = site;
  });
  return true;
}

/// The same for one or four granules, which are the most frequent, as constants.
template <class FirstOf, class StampOf>
bool write_if_ordered(SharedShadow& shadow, Stamp safe, std::uint32_t site, int threads,
                      std::size_t count, const FirstOf& first_of, const StampOf& stamp_of) {
  switch (count) {
    case 1: return write_if_ordered<1>(shadow, safe, site, threads, count, first_of, stamp_of);
    case 4: return write_if_ordered<4>(shadow, safe, site, threads, count, first_of, stamp_of);
    default: return write_if_ordered<0>(shadow, safe, site, threads, count, first_of, stamp_of);
  }
}

}  // namespace rung::vgpu
