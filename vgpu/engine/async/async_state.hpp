#pragma once
// The additional state of a block whose kernel uses mbarriers, bulk copies, wgmma or clusters.

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "vgpu/engine/async/mbarrier.hpp"
#include "vgpu/engine/execution/block.hpp"
#include "vgpu/engine/observers.hpp"
#include "vgpu/happens_before/async_shadow.hpp"
#include "vgpu/model/async_ops.hpp"

namespace rung::vgpu {

/// Groups of asynchronous operations of one warp, committed and waited for in order. Operations are
/// numbered from 1.
struct AsyncGroups {
  std::uint32_t issued = 0;
  std::uint32_t committed = 0;       // number of the last committed operation
  std::deque<std::uint32_t> groups;  // last operation of each group, oldest first

  void commit() {
    groups.push_back(issued);
    committed = issued;
  }
  /// Waits until at most `left` groups are in flight. Returns the number of the last completed
  /// operation, or 0 if none completed.
  std::uint32_t wait(std::uint64_t left) {
    std::uint32_t ended = 0;
    for (; groups.size() > left; groups.pop_front()) ended = groups.front();
    return ended;
  }
};

/// A bulk copy out of shared memory, which is executed when the program waits for it.
struct BulkStore {
  std::uint32_t number = 0;  // among the warp's bulk stores
  std::uint32_t site = 0;
  int thread = 0;
  std::uint32_t from = 0, bytes = 0;  // in shared memory
  struct Piece {
    std::byte* to;        // in global memory
    std::uint32_t at;     // offset in shared memory
    std::uint32_t bytes;  // inside the tensor
  };
  std::vector<Piece> pieces;
  BulkCopyOp::Reduction action = BulkCopyOp::Reduction::none;
};

/// The range that a bulk copy writes. Kept for race detection until the program waits for the copy.
struct BulkWrite {
  std::uint32_t number = 0;  // among the warp's bulk stores
  std::uint32_t site = 0;
  int lane = 0;
  bool atomic = false;
  std::vector<GlobalRange> ranges;
};

/// The asynchronous operations of one warp.
struct AsyncWarp {
  AsyncGroups multiplies;  // wgmma
  AsyncGroups stores;      // bulk stores, until they have read their source
  AsyncGroups writes;      // bulk stores, until they are complete
  std::deque<BulkStore> unfinished;
  std::deque<BulkWrite> in_flight;
  int registers = 0;          // per thread, set by setmaxnreg; 0: as launched
  std::uint32_t arrived = 0;  // 1 + phase of the cluster barrier at its last arrival
  Mask to_wait = 0;           // lanes that have arrived there but not waited yet
  Clock initialised;  // at the last fence.mbarrier_init since the last arrival there; or empty
};

struct TensorState;

struct AsyncState {
  Mbarriers barriers;
  AsyncShadow shadow;
  std::vector<AsyncWarp> warps;
  /// Shadow entries, indexed by warpgroup and number of the wgmma.
  std::vector<std::vector<std::uint32_t>> multiplies;
  std::unique_ptr<TensorState> tensor;  // null if the kernel has no tcgen05

  AsyncState();
  ~AsyncState();
  void start(const Block& block);
};

/// Registers per thread of a warp: the count set by setmaxnreg, or the most that the launch can have, an equal
/// share of the register file.
int registers_of(const AsyncState& state, std::size_t warp);

/// Values of Split::barrier for waits other than at a barrier; they start at barrier_count.
inline constexpr int waits_for_cluster = barrier_count;
inline constexpr int waits_for_mbarrier = barrier_count + 1;  // plus the index of the mbarrier
inline constexpr int waits_for_tensor_memory = waits_for_mbarrier + AsyncOrder::max_barriers;

/// Describes what a split with this Split::barrier value waits for.
std::string describe_wait(const Block& block, int id);

/// Returns the warp's clock, including its segments so far: the clock that an arrival releases. If the arrival is
/// .relaxed, only the components of tensor memory (AsyncOrder::join_tensor()).
const Clock& publish(Warp& warp, bool relaxed = false);
/// Merges `clock` into the warp's clock, after a wait that acquires it; of a .relaxed wait, the same components.
void acquire(Warp& warp, const Clock& clock, bool relaxed = false);
// fence.proxy.async makes everything ordered before it visible to asynchronous operations: in all
// memory, in shared memory, or in global memory.
void run_proxy_fence(Warp& warp, const Instr& instr);
void run_proxy_fence_of_shared(Warp& warp, const Instr& instr);
void run_proxy_fence_of_global(Warp& warp, const Instr& instr);
/// fence.mbarrier_init: makes only initialisations of mbarriers visible.
void run_mbarrier_fence(Warp& warp, const Instr& instr);

/// Reports operations that are still in flight after the block's threads have exited.
void finish_async(Block& block);

/// Called when a barrier completes: the waiting warps acquire the clocks of the warps that arrived.
void synchronize_async(Block& block, const Barrier& done);

/// The address that a lane uses.
std::uint64_t address_of(Warp& warp, const AsyncAddress& address, int lane);

/// A location in the shared memory of a block of the cluster.
struct ClusterPlace {
  Block* block = nullptr;
  std::uint32_t offset = 0;
};

/// An address of shared::cluster is an offset in the accessing block, or rank + 1 of a block,
/// shifted left by rank_shift, plus an offset.
inline constexpr int rank_shift = 24;

/// The location of a shared or generic address. Returns nullopt, after a report, if the address is
/// out of bounds or not a multiple of `alignment`.
std::optional<ClusterPlace> cluster_place(Warp& warp, int lane, std::uint32_t site,
                                          std::uint64_t address, std::uint32_t bytes,
                                          std::uint32_t alignment, const char* what);

}  // namespace rung::vgpu
