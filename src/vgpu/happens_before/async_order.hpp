#pragma once
// The happens-before order across a cluster, where warps and asynchronous operations order each
// other through mbarriers: one vector clock per warp. happens_before/order.hpp has the order by a
// block's barriers, and receives what is learned here.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rung::vgpu {

/// Per component: how much of an agent's work is ordered before what the warp does next.
using Clock = std::vector<std::uint32_t>;

void join(Clock& clock, const Clock& other);

class AsyncOrder {
 public:
  /// The most mbarriers of a block that exist at the same time, or one after the other in different
  /// places.
  static constexpr int most_barriers = 64;

  void start(int ranks, int warps);

  Clock& of(int rank, int warp) { return clocks_[index(rank, warp)]; }

  // The components, per block of the cluster.
  /// Segments of a warp (happens_before/order.hpp).
  std::size_t segments(int rank, int warp) const { return base(rank) + at(warp); }
  /// Of these, those that a proxy fence has made visible to asynchronous operations.
  std::size_t fenced(int rank, int warp) const { return base(rank) + at(warps_ + warp); }
  /// Bulk copies of a warp that have read their source.
  std::size_t copied(int rank, int warp) const { return base(rank) + at(2 * warps_ + warp); }
  /// Completed wgmma of a warpgroup.
  std::size_t multiplied(int rank, int group) const { return base(rank) + at(3 * warps_ + group); }
  /// Phases of an mbarrier that have been waited for.
  std::size_t phases(int rank, int barrier) const { return base(rank) + at(4 * warps_ + barrier); }

 private:
  static std::size_t at(int index) { return static_cast<std::size_t>(index); }
  std::size_t index(int rank, int warp) const { return at(rank * warps_ + warp); }
  std::size_t base(int rank) const { return at(rank * (4 * warps_ + most_barriers)); }

  int warps_ = 0;
  std::vector<Clock> clocks_;  // by rank and warp
};

}  // namespace rung::vgpu
