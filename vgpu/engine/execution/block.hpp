#pragma once
// A running block (CTA): its warps, memory and barriers.

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vgpu/engine/async/async_copy.hpp"
#include "vgpu/engine/execution/barrier.hpp"
#include "vgpu/engine/execution/chain.hpp"
#include "vgpu/engine/execution/skipped_sync.hpp"
#include "vgpu/engine/execution/worker.hpp"
#include "vgpu/happens_before/block_releases.hpp"
#include "vgpu/happens_before/order.hpp"
#include "vgpu/happens_before/shared_shadow.hpp"
#include "vgpu/model/step_watch.hpp"
#include "vgpu/model/warp.hpp"

namespace rung::vgpu {

/// Start addresses of the windows of shared memory, local memory and parameters in the generic
/// address space. Addresses of real memory are far below.
inline constexpr std::uint64_t shared_window = 1ull << 56;
inline constexpr std::uint64_t local_window = 2ull << 56;
inline constexpr std::uint64_t param_window = 3ull << 56;
inline constexpr std::uint64_t window_mask = (1ull << 56) - 1;

struct AsyncState;
class Cluster;
struct Observers;

/// Thrown out of Block::run() where a block reads unwritten shared memory and can start again in the kernel's tracking
/// version, which tells whether the value matters.
struct RestartTracked {};

class Block {
 public:
  Block(Worker& worker, Cluster& cluster, int rank);
  ~Block();

  /// Initialises this as the block at a position in the grid.
  void start(const std::array<std::uint32_t, 3>& place);

  enum class Status { done, yielded, stalled, stopped };
  /// Runs until all threads have exited, the launch stops, all threads wait, or every warp has used
  /// up its turn (probably spinning, perhaps on another block).
  Status run();
  /// Called when no thread can proceed. Reports what each thread waits for.
  void report_deadlock();
  /// A hash of everything that decides how the block continues, except global memory.
  std::size_t state() const;
  /// Reports lanes of a warp that wait for each other. Returns false if it finds no such lanes.
  bool report_lanes_in_turn();

  // Called by handlers. `aligned`: the instruction requires all lanes of the warp.
  void barrier_sync(Warp& warp, int id, std::uint32_t expected, const Instr& instr, bool aligned,
                    OrderedMemory orders);
  void barrier_arrive(Warp& warp, int id, std::uint32_t expected, const Instr& instr);
  void barrier_reduce(Warp& warp, int id, std::uint32_t expected, const Instr& instr,
                      Barrier::Reduction reduction, Mask predicate);
  void warp_sync(Warp& warp, Mask wanted, const Instr& instr, OrderedMemory orders);
  /// Suspends the warp's split until wake() is called. `id` (at least barrier_count) identifies
  /// what it waits for.
  void suspend(Warp& warp, int id, const Instr& instr);
  void wake(Warp& warp, int split);
  std::uint32_t live_threads() const { return live_threads_; }
  /// Reports named lanes that exited because they skipped this instruction, by the source.
  void check_exited_members(const Warp& warp, std::uint32_t site, Mask named);

  int thread(const Warp& warp, int lane) const { return warp.index * warp_size + lane; }
  std::byte* local(const Warp& warp, int lane) {
    return local_.data() +
           (static_cast<std::size_t>(warp.index) * warp_size + lane) * worker.kernel.local_bytes;
  }

  Worker& worker;
  Cluster& cluster;
  const Observers& observers;                         // belongs to the launch
  const int rank;                                     // in the cluster
  std::uint64_t linear = 0;                           // linear index in the grid
  std::array<std::uint32_t, 3> position = {0, 0, 0};  // in the grid
  std::vector<Warp> warps;
  std::vector<std::byte> shared;
  Order order;
  SharedShadow shadow;
  BlockReleases releases;
  std::vector<AsyncCopies> copies;  // by warp
  std::vector<Stamp> grid_waits;    // by warp: stamp of its first griddepcontrol.wait, or 0
  /// engine/async/async_state.hpp. Null unless Kernel::asynchronous.
  std::unique_ptr<AsyncState> async;
  PrintRing printed;
  /// True if the block can start again: it has done nothing yet that others see.
  bool can_restart = false;
  /// A read of unwritten shared memory.
  struct UnwrittenRead {
    std::uint32_t site;
    int thread;
    std::uint64_t offset;
    std::int64_t exited;  // the block's threads that had exited by then
  };
  /// A tracking version's: by site and thread, the read that the value comes from.
  std::map<std::pair<std::uint32_t, int>, UnwrittenRead> unwritten_reads;
  /// By granule: the read that an undefined value stored there comes from.
  std::map<std::size_t, UnwrittenRead> undefined_stores;

 private:
  enum class Turn { spent, suspended, exited };
  bool is_whole(const Warp& warp) const;
  Turn take_whole_turn(Warp& warp, std::uint64_t budget);
  Turn take_turn(Warp& warp, std::uint64_t budget, const StepWatcher* steps);
  Turn go_on(Warp& warp, bool runs_on, std::uint64_t end, std::uint64_t budget,
             const StepWatcher* steps);
  bool run_part(Warp& warp, std::uint64_t budget, const StepWatcher* steps);
  bool pick_split(Warp& warp, bool rotate);
  bool run_split(Warp& warp, std::uint64_t end, const StepWatcher* steps);
  bool run_whole(Warp& warp, std::uint64_t end);
  std::optional<bool> run_divergent(Warp& warp, std::uint64_t end);
  Chain::State chain_state(Warp& warp, std::uint64_t end);
  const BasicBlock& block_at(int index) const;
  bool run_code(Warp& warp, const struct BasicBlock& block);
  bool run_exchanging(Warp& warp, const struct BasicBlock& block);
  void wake_exchanges(Warp& warp);
  bool force_exchange(Warp& warp, bool patient);
  /// Executes the end of a basic block. Returns false if the split has ended or has become a
  /// parent.
  bool advance(Warp& warp, const struct BasicBlock& block, int index);
  bool diverge(Warp& warp, const struct BasicBlock& block, Mask taken);
  bool call(Warp& warp, const struct BasicBlock& block, int target);
  bool jump_indirect(Warp& warp, const struct BasicBlock& block);
  void place(Warp& warp, int parent, int reconverge, int target, Mask mask, std::uint32_t site);
  bool go_to(Warp& warp, int target);
  void end_split(Warp& warp, int index);
  void complete_warp_sync(Warp& warp, Mask wanted);
  void exit_lanes(Warp& warp, Mask lanes);
  void arrive(Warp& warp, Barrier& barrier, std::uint32_t expected, bool counts_whole_warp);
  void wait_at(Warp& warp, int id, std::uint32_t expected, const Instr& instr);
  void complete_if_full(int id);
  void release(Barrier& barrier);
  void report_divergent(const Barrier& barrier);
  void report_skipped(const Barrier& barrier);
  void report_mixed(const Barrier& barrier);
  void report_wait(const Warp& warp, const Split& split);
  void fill_rows();
  void fill_special(const SpecialRow& row);

  std::vector<std::byte> frames_;
  std::vector<std::byte> local_;
  std::array<Barrier, barrier_count> barriers_;
  std::uint32_t barriers_used_ = 0;         // since the block started, one bit each
  std::vector<OrderedMemory> sync_orders_;  // by warp, for the __syncwarp it arrives at
  std::uint32_t live_threads_ = 0;
  Dim3 threads_;  // of this block: fewer at the edge of a grid that is no multiple of blocks
  std::vector<EarlyExit> early_exits_;  // since the block started
  bool rows_filled_ = false;
};

}  // namespace rung::vgpu
