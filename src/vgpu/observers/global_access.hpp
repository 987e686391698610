#pragma once
// An access to global memory, against earlier ones: what threads and bulk copies have in common.

#include <atomic>
#include <cstdint>
#include <type_traits>

#include "vgpu/engine/execution/block.hpp"
#include "vgpu/happens_before/global_shadow.hpp"
#include "vgpu/observers/row_stamps.hpp"

namespace rung::vgpu {

/// What all lanes of an access, or all bytes of a bulk copy, have in common.
struct GlobalAccess {
  Block& block;
  const Warp& warp;
  const Allocation& allocation;
  const GlobalShadow shadow;
  std::uint32_t site;
  std::uint32_t bytes;  // of a lane
  const char* what;     // "read", "write", "atomic", "bulk copy"
  bool writes, atomic;
  bool copies;  // a bulk copy: what it stores is in no register
  std::uint64_t granule_bytes;
  int granule_shift;   // its logarithm
  GlobalStamp stamp;   // of thread 0 of the block
  GlobalStamp oldest;  // smaller stamps are of earlier launches
  Stamp safe;          // smaller ones, of this block, are ordered before the warp's accesses
  bool alone;          // no other CPU thread runs blocks of the launch
};

/// An access in the warp's current segment, or in flight.
struct AccessOfWarp {
  std::uint32_t site, bytes;
  const char* what;
  bool writes, atomic;
  bool copies = false;
  bool in_flight = false;
};
GlobalAccess global_access(Block& block, const Warp& warp, const Allocation& allocation,
                           const AccessOfWarp& access);

/// Which rows of the allocation may have one stamp (observers/row_stamps.hpp).
RowLaunch row_launch(const GlobalAccess& access);
/// Gives the granules in these bytes stamps of their own, before any of them is looked at.
void spread_rows(const GlobalAccess& access, std::uint64_t begin, std::uint64_t end);

/// Whether the access with that stamp is ordered before the next one of this thread.
bool in_order(const GlobalAccess& access, GlobalStamp stamp, int thread);

/// Whether the launch may have recorded writes in the allocation, reads, and second readers of a granule. Most
/// allocations have only some of these, and the pages of other stamps are never touched.
bool was_written(const GlobalAccess& access);
bool was_read(const GlobalAccess& access);
bool was_reread(const GlobalAccess& access);

/// Records in the allocation that the launch has such accesses.
void mark(std::uint64_t& launch, const GlobalAccess& access);

/// Reports a granule's access at another site that is not ordered before a thread's.
void report_unordered(const GlobalAccess& access, int thread, std::size_t granule,
                      GlobalStamp other, std::uint32_t site, const char* what);

/// Checks a thread's access to a granule against those before it; false after a report. `begin`: of the
/// thread's access, in the allocation.
bool check_granule(const GlobalAccess& access, int thread, std::size_t granule,
                   std::uint64_t begin);
/// Records it.
void note_granule(const GlobalAccess& access, int thread, std::size_t granule);

/// Stamps, which blocks on several CPU threads access at the same time.
template <class T>
T load_relaxed(T& shared) {
  return std::atomic_ref(shared).load(std::memory_order_relaxed);
}
template <class T>
void store_relaxed(T& shared, std::type_identity_t<T> value) {
  std::atomic_ref(shared).store(value, std::memory_order_relaxed);
}

}  // namespace rung::vgpu
