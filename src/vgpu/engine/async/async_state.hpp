#pragma once
// What a block has besides, if its kernel uses mbarriers, bulk copies, wgmma or clusters.

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "vgpu/engine/async/mbarrier.hpp"
#include "vgpu/engine/execution/block.hpp"
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
  /// Until at most `left` groups are in flight; the number of the last operation that has ended,
  /// 0 if none has.
  std::uint32_t wait(std::uint64_t left) {
    std::uint32_t ended = 0;
    for (; groups.size() > left; groups.pop_front()) ended = groups.front();
    return ended;
  }
};

/// A bulk copy out of shared memory, done when it is waited for.
struct BulkStore {
  std::uint32_t number = 0;  // of the warp's
  std::uint32_t site = 0;
  int thread = 0;
  std::uint32_t from = 0, bytes = 0;  // in shared memory
  struct Piece {
    std::uint64_t to;     // global
    std::uint32_t at;     // offset in shared memory
    std::uint32_t bytes;  // that lie inside the tensor
  };
  std::vector<Piece> pieces;
  BulkCopyOp::Reduction action = BulkCopyOp::Reduction::none;
};

/// Of one warp.
struct AsyncWarp {
  AsyncGroups multiplies;  // wgmma
  AsyncGroups stores;      // bulk
  std::deque<BulkStore> unfinished;
  int registers = 0;          // a thread, by setmaxnreg; 0: as launched
  std::uint32_t arrived = 0;  // cluster barriers
  Mask to_wait = 0;           // lanes that have not waited since they arrived there
};

struct AsyncState {
  Mbarriers barriers;
  AsyncShadow shadow;
  std::vector<AsyncWarp> warps;
  /// By warpgroup and number of the wgmma: what stands for it in the shadow.
  std::vector<std::vector<std::uint32_t>> multiplies;

  void start(const Block& block);
};

/// Split::barrier of those who wait, from Block's barrier_count on.
inline constexpr int waits_for_cluster = barrier_count;
inline constexpr int waits_for_mbarrier = barrier_count + 1;  // plus its index

/// What a split waits for whose Split::barrier that is.
std::string describe_wait(const Block& block, int id);

/// The clock of the warp, with its segments up to now: what an arrival releases.
const Clock& publish(Warp& warp);
/// The warp has waited for those whose clock that is.
void acquire(Warp& warp, const Clock& clock);
/// fence.proxy.async: what the warp knows of becomes visible to asynchronous operations.
void run_proxy_fence(Warp& warp, const Instr& instr);
/// fence.mbarrier_init: the same for mbarriers alone.
void run_mbarrier_fence(Warp& warp, const Instr& instr);

/// The block's threads have exited: reports what is still in flight.
void finish_async(Block& block);

/// The barrier is complete: those who waited there have met those who arrived.
void meet_async(Block& block, const Barrier& done);

/// A lane's.
std::uint64_t address_of(Warp& warp, const AsyncAddress& address, int lane);

/// A place in the shared memory of a block of the cluster.
struct ClusterPlace {
  Block* block = nullptr;
  std::uint32_t offset = 0;
};

/// Addresses of shared::cluster: offsets in the own block, or its rank + 1 above this bit.
inline constexpr int rank_shift = 24;

/// Of an address of shared memory or a generic one; nothing, and reported, if it lies outside or is
/// not a multiple of `alignment`.
std::optional<ClusterPlace> cluster_place(Warp& warp, int lane, std::uint32_t site,
                                          std::uint64_t address, std::uint32_t bytes,
                                          std::uint32_t alignment, const char* what);

}  // namespace rung::vgpu
