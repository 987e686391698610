#pragma once
// The happens-before order across a cluster, in which warps and asynchronous operations order each
// other through mbarriers: one vector clock per warp. happens_before/order.hpp implements the order
// due to a block's barriers, and is updated from here.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rung::vgpu {

/// A vector clock. Each component: how much of one agent's work is ordered before the warp's next
/// operation.
using Clock = std::vector<std::uint32_t>;

void join(Clock& clock, const Clock& other);

class AsyncOrder {
 public:
  /// Maximum number of mbarriers of a block, existing at the same time or one after the other at
  /// different addresses.
  static constexpr int max_barriers = 64;

  void start(int ranks, int warps, bool has_tensor_memory = false);

  Clock& of(int rank, int warp) { return clocks_[index(rank, warp)]; }

  // Components of a clock, for each block of the cluster:
  /// Segments of a warp (happens_before/order.hpp).
  std::size_t segments(int rank, int warp) const { return base(rank) + at(warp); }
  /// Segments of a warp that a proxy fence has made visible to asynchronous operations.
  std::size_t fenced(int rank, int warp) const { return base(rank) + at(warps_ + warp); }
  /// Bulk copies of a warp that have read their source.
  std::size_t copied(int rank, int warp) const { return base(rank) + at(2 * warps_ + warp); }
  /// Completed wgmma of a warpgroup.
  std::size_t multiplied(int rank, int group) const { return base(rank) + at(3 * warps_ + group); }
  /// Phases of an mbarrier that the warp has waited for.
  std::size_t phases(int rank, int barrier) const { return base(rank) + at(4 * warps_ + barrier); }
  // If the kernel uses tensor memory:
  /// Pipelined tcgen05 instructions of a warp whose commit has arrived.
  std::size_t tensor(int rank, int warp) const { return tensor_base(rank) + at(warp); }
  /// Loads from and stores to tensor memory that the warp has waited for.
  std::size_t loaded(int rank, int warp) const { return tensor_base(rank) + at(warps_ + warp); }
  std::size_t stored(int rank, int warp) const { return tensor_base(rank) + at(2 * warps_ + warp); }

  /// Joins the components of tensor memory alone. A .relaxed barrier passes them on, too: what orders execution orders
  /// completed tcgen05 instructions (PTX ISA, 9.7.16.6, "Memory consistency model for 5th generation of TensorCore
  /// operations").
  void join_tensor(Clock& clock, const Clock& other) const;

 private:
  static std::size_t at(int index) { return static_cast<std::size_t>(index); }
  std::size_t index(int rank, int warp) const { return at(rank * warps_ + warp); }
  std::size_t base(int rank) const { return at(rank * (4 * warps_ + max_barriers)); }
  std::size_t tensor_base(int rank) const { return base(ranks_) + at(rank * 3 * warps_); }

  int warps_ = 0;
  int ranks_ = 0;
  std::vector<Clock> clocks_;  // by rank and warp
};

}  // namespace rung::vgpu
