#pragma once
// The additional state of a block whose kernel uses mbarriers, bulk copies, wgmma or clusters.

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "vgpu/engine/async/mbarrier.hpp"
#include "vgpu/engine/execution/block.hpp"
#include "vgpu/engine/observers.hpp"
#include "vgpu/happens_before/async_shadow.hpp"
#include "vgpu/model/async_ops.hpp"

namespace rung::vgpu {

/// Groups of asynchronous operations of one warp, committed and waited for in order. Operations
/// are numbered from 1.
struct AsyncGroups {
  std::uint32_t issued = 0;
  std::uint32_t committed = 0;       // operations up to this one
  std::deque<std::uint32_t> groups;  // the last operation of each, oldest first

  void commit() {
    groups.push_back(issued);
    committed = issued;
  }
  /// Waits until at most `left` groups are in flight. Returns the number of the last completed
  /// operation, or 0.
  std::uint32_t wait(std::uint64_t left) {
    std::uint32_t ended = 0;
    for (; groups.size() > left; groups.pop_front()) ended = groups.front();
    return ended;
  }
};

/// A bulk copy out of shared memory, which is executed when it is waited for.
struct BulkStore {
  std::uint32_t number = 0;  // of the warp's
  std::uint32_t site = 0;
  int thread = 0;
  std::uint32_t from = 0, bytes = 0;  // in shared memory
  struct Piece {
    std::uint64_t to;     // global
    std::uint32_t at;     // offset in shared memory
    std::uint32_t bytes;  // inside the tensor
  };
  std::vector<Piece> pieces;
  BulkCopyOp::Reduction action = BulkCopyOp::Reduction::none;
};

/// What a bulk copy writes, for race detection, until it is waited for.
struct BulkWrite {
  std::uint32_t number = 0;  // of the warp's
  std::uint32_t site = 0;
  int lane = 0;
  bool atomic = false;
  std::vector<GlobalRange> ranges;
};

/// The asynchronous operations of one warp.
struct AsyncWarp {
  AsyncGroups multiplies;  // wgmma
  AsyncGroups stores;      // bulk, until they have read their source
  AsyncGroups writes;      // the same, until they are complete
  std::deque<BulkStore> unfinished;
  std::deque<BulkWrite> in_flight;
  int registers = 0;          // per thread, by setmaxnreg; 0: as launched
  std::uint32_t arrived = 0;  // cluster barriers
  Mask to_wait = 0;           // lanes that have arrived there but not yet waited
  Clock initialised;          // by fence.mbarrier_init since it has last arrived there; or empty
};

struct AsyncState {
  Mbarriers barriers;
  AsyncShadow shadow;
  std::vector<AsyncWarp> warps;
  /// The shadow's entries, by warpgroup and number of the wgmma.
  std::vector<std::vector<std::uint32_t>> multiplies;

  void start(const Block& block);
};

/// Values of Split::barrier for other waits, from Block's barrier_count on.
inline constexpr int waits_for_cluster = barrier_count;
inline constexpr int waits_for_mbarrier = barrier_count + 1;  // plus its index

/// Describes what a split with that Split::barrier waits for.
std::string describe_wait(const Block& block, int id);

/// The warp's clock, including its segments so far: what an arrival releases.
const Clock& publish(Warp& warp);
/// The warp has acquired this clock by a wait.
void acquire(Warp& warp, const Clock& clock);
// fence.proxy.async: everything that is ordered before it becomes visible to asynchronous
// operations, in all memory, or in that of the name.
void run_proxy_fence(Warp& warp, const Instr& instr);
void run_proxy_fence_of_shared(Warp& warp, const Instr& instr);
void run_proxy_fence_of_global(Warp& warp, const Instr& instr);
/// The same for initialisations of mbarriers only.
void run_mbarrier_fence(Warp& warp, const Instr& instr);

/// Reports operations that are still in flight when the block's threads have exited.
void finish_async(Block& block);

/// The barrier is complete: the warps that waited there acquire the clocks of those that arrived.
void meet_async(Block& block, const Barrier& done);

/// The address of a lane.
std::uint64_t address_of(Warp& warp, const AsyncAddress& address, int lane);

/// A location in the shared memory of a block of the cluster.
struct ClusterPlace {
  Block* block = nullptr;
  std::uint32_t offset = 0;
};

/// Addresses of shared::cluster: an offset in the own block, or with a block's rank + 1 from this
/// bit on.
inline constexpr int rank_shift = 24;

/// The location of a shared or generic address; nothing, after a report, if it is out of bounds or
/// not a multiple of `alignment`.
std::optional<ClusterPlace> cluster_place(Warp& warp, int lane, std::uint32_t site,
                                          std::uint64_t address, std::uint32_t bytes,
                                          std::uint32_t alignment, const char* what);

}  // namespace rung::vgpu
