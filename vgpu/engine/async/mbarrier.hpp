#pragma once
// mbarriers: pending arrivals, tx-counts and phases (PTX ISA, 9.7.13.15, "mbarrier").

#include <cstdint>
#include <string>
#include <vector>

#include "vgpu/happens_before/async_order.hpp"
#include "vgpu/happens_before/order.hpp"
#include "vgpu/model/instr.hpp"
#include "vgpu/model/warp.hpp"

namespace rung::vgpu {

class Block;

/// An mbarrier object in shared memory. Its eight bytes are opaque to programs; the state is kept
/// here.
struct Mbarrier {
  struct Waiter {
    Warp* warp;
    int split;
    Mask mask;
    std::uint32_t result;  // row of the predicate that becomes true
    bool acquires;
  };
  std::uint32_t offset = 0;  // in shared memory
  bool valid = false;        // initialised and not invalidated since
  std::uint32_t expected = 0;
  std::uint32_t pending = 0;      // pending arrivals of the current phase
  std::int64_t due = 0;           // the tx-count, in bytes
  std::uint32_t phase = 0;        // number of completed phases, including those before init
  std::uint32_t first_phase = 0;  // the phase at init, from which the parity counts
  Stamp initialised = 0;          // thread and segment of the init
  std::uint32_t site = 0;
  bool visible = false;      // a fence has made the initialisation visible to bulk copies
  Clock arrived, completed;  // released by the current phase's arrivals, and by the last phase
  std::vector<Waiter> waiting;

  int thread() const { return stamp_thread(initialised); }
  /// The parity of the current, incomplete phase.
  std::uint32_t parity() const { return (phase - first_phase) & 1; }
};

class Mbarriers {
 public:
  void start() { barriers_.clear(); }
  /// The mbarrier at this offset, or null.
  Mbarrier* find(std::uint32_t offset);
  /// The mbarrier at this offset, created if necessary; null if the block has too many.
  Mbarrier* make(std::uint32_t offset);
  int index(const Mbarrier& barrier) const { return static_cast<int>(&barrier - barriers_.data()); }
  Mbarrier& at(int index) { return barriers_[static_cast<std::size_t>(index)]; }
  std::vector<Mbarrier>& all() { return barriers_; }

 private:
  std::vector<Mbarrier> barriers_;
};

/// Call after every arrival or change of the tx-count. Completes the phase if no arrivals or bytes
/// are pending, and wakes the splits that wait for it.
void complete_if_due(Block& block, Mbarrier& barrier);

/// A description such as "full + 8, phase 3 (parity 1), waits for 1 of 1 arrivals and 4096 bytes".
std::string describe(const Block& block, const Mbarrier& barrier);

/// Instr::imm points at an MbarrierOp (model/async_ops.hpp).
void run_mbarrier(Warp& warp, const Instr& instr);
/// try_wait: suspends the warp's split until the phase is complete.
void run_mbarrier_wait(Warp& warp, const Instr& instr);
/// cp.async.mbarrier.arrive: arrives when the thread's previous cp.async copies have completed.
void run_mbarrier_copies(Warp& warp, const Instr& instr);

/// Reports a use of an mbarrier, of the block or of another one of its cluster, unless a barrier orders the
/// initialisation before it. `what`: the instruction, "mbarrier" or "bulk copy".
void check_initialised(Warp& warp, int lane, std::uint32_t site, const char* what, Block& owner,
                       const Mbarrier& barrier);

}  // namespace rung::vgpu
