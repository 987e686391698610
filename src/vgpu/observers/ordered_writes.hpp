#pragma once
// Writes to shared memory by a warp, of which a few comparisons show that they are ordered after all
// earlier accesses there. Most are.

#include <cstddef>
#include <cstdint>

#include "vgpu/happens_before/shared_shadow.hpp"

namespace rung::vgpu {

/// A write of `count` granules by each of several threads, at distinct places.
template <class FirstOf, class ThreadOf, class StampOf>
struct WriteByThreads {
  std::uint32_t site;
  int threads;
  std::size_t count;
  const FirstOf& first_of;    // by the index of a thread: its first granule
  const ThreadOf& thread_of;  // its number in the block
  const StampOf& stamp_of;    // what to record
};

/// Checks and records the write. False, and nothing is recorded, if some granule has an access of
/// which is_plainly_ordered() does not hold. `Count`: the granules, if they are known; otherwise 0.
template <std::size_t Count, class Write>
bool write_if_ordered(SharedShadow& shadow, Stamp safe, const Write& write) {
  const std::size_t granules = Count != 0 ? Count : write.count;
  Stamp* const written = shadow.written.data();
  const auto for_each = [&](const auto& f) {
    for (int i = 0; i < write.threads; ++i) {
      const std::size_t first = write.first_of(i);
      for (std::size_t at = first; at < first + granules; ++at) f(i, at);
    }
  };
  bool ordered = true;
  std::uint32_t fresh = 0;
  for_each([&](int i, std::size_t at) {
    ordered &= is_plainly_ordered(written[at], safe, write.thread_of(i));
    fresh |= written[at] == 0 ? 1u : 0u;
  });
  if (shadow.has_readers) {
    for_each([&](int i, std::size_t at) {
      ordered &= is_plainly_ordered(shadow.first_reader[at], safe, write.thread_of(i)) &&
                 is_plainly_ordered(shadow.other_reader[at], safe, write.thread_of(i));
    });
  }
  if (!ordered) return false;
  if (fresh != 0) {
    for_each([&](int, std::size_t at) {
      if (written[at] == 0) shadow.count_first_write(at);
    });
  }
  std::uint32_t* const sites = shadow.write_site.data();
  for_each([&](int i, std::size_t at) {
    written[at] = write.stamp_of(i);
    sites[at] = write.site;
  });
  return true;
}

/// The same for one or four granules, which are the most frequent, as constants.
template <class Write>
bool write_if_ordered(SharedShadow& shadow, Stamp safe, const Write& write) {
  switch (write.count) {
    case 1: return write_if_ordered<1>(shadow, safe, write);
    case 4: return write_if_ordered<4>(shadow, safe, write);
    default: return write_if_ordered<0>(shadow, safe, write);
  }
}

}  // namespace rung::vgpu
