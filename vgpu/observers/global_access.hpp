#pragma once
// Checks of accesses to global memory against earlier ones, shared by threads and bulk copies.

#include <atomic>
#include <cstdint>
#include <type_traits>

#include "vgpu/engine/execution/block.hpp"
#include "vgpu/happens_before/global_shadow.hpp"
#include "vgpu/observers/row_stamps.hpp"

namespace rung::vgpu {

/// Properties common to all lanes of an access, or all bytes of a bulk copy.
struct GlobalAccess {
  Block& block;
  const Warp& warp;
  const Allocation& allocation;
  const GlobalShadow shadow;
  std::uint32_t site;
  std::uint32_t bytes;  // per lane
  const char* what;     // "read", "write", "atomic", "bulk copy"
  bool writes, atomic;
  bool copies;       // a bulk copy: its values are not in registers
  bool block_scope;  // atomic for threads of its own block alone
  bool read_only;    // a load that no write of the launch may come before
  std::uint64_t granule_bytes;
  int granule_shift;   // log2 of granule_bytes
  GlobalStamp stamp;   // of thread 0 of the block
  GlobalStamp oldest;  // smaller stamps belong to earlier launches
  Stamp safe;          // smaller stamps of this block are ordered before the warp's accesses
  bool alone;          // no other CPU thread runs blocks of the launch
};

/// An access in the warp's current segment, or in flight.
struct AccessOfWarp {
  std::uint32_t site, bytes;
  const char* what;
  bool writes, atomic;
  bool copies = false;
  bool in_flight = false;
  bool block_scope = false;
  bool read_only = false;
};
GlobalAccess global_access(Block& block, const Warp& warp, const Allocation& allocation,
                           const AccessOfWarp& access);

/// The parameters for recording rows of the allocation (observers/row_stamps.hpp).
RowLaunch row_launch(const GlobalAccess& access);
/// Converts row stamps to stamps of granules in these bytes. Call before examining any of them.
void spread_rows(const GlobalAccess& access, std::uint64_t begin, std::uint64_t end);

/// True if the access with that stamp is ordered before this thread's next access.
bool in_order(const GlobalAccess& access, GlobalStamp stamp, int thread);

/// True if the launch may have recorded writes in the allocation, reads, or second readers of a
/// granule. Most allocations have only some of these, and the pages of other stamps are never
/// touched.
bool was_written(const GlobalAccess& access);
bool was_read(const GlobalAccess& access);
bool was_reread(const GlobalAccess& access);
/// True if an atomic of the launch may have followed a plain write.
bool has_plain_writes(const GlobalAccess& access);

/// Records in the allocation that the launch has accesses of that kind.
void mark(std::uint64_t& launch, const GlobalAccess& access);

/// Reports an earlier access to a granule, at another site, that is not ordered before a thread's
/// access.
void report_unordered(const GlobalAccess& access, int thread, std::size_t granule,
                      GlobalStamp other, std::uint32_t site, const char* what);

/// Checks a thread's access to a granule against earlier ones. Returns false after a report.
/// `begin`: offset of the thread's access in the allocation.
bool check_granule(const GlobalAccess& access, int thread, std::size_t granule,
                   std::uint64_t begin);
/// Records a thread's access to a granule.
void note_granule(const GlobalAccess& access, int thread, std::size_t granule);

/// Loads a stamp that blocks on several CPU threads access concurrently.
template <class T>
T load_relaxed(T& shared) {
  return std::atomic_ref(shared).load(std::memory_order_relaxed);
}
template <class T>
void store_relaxed(T& shared, std::type_identity_t<T> value) {
  std::atomic_ref(shared).store(value, std::memory_order_relaxed);
}

}  // namespace rung::vgpu
