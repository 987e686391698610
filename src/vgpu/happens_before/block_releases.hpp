#pragma once
// One block's side of happens_before/grid_order.hpp: which of its threads have acquired what, and
// what each of its warps may show by a write.

#include <cstdint>
#include <map>
#include <vector>

#include "vgpu/happens_before/grid_order.hpp"

namespace rung::vgpu {

class BlockReleases {
 public:
  /// A block of so many warps begins; `block` counts in the grid. `order` is the block's own.
  void start(Order& order, std::uint64_t block, int warps);

  /// membar.gl, fence.acq_rel.gpu and stronger: what the warp's lanes have read so far is acquired,
  /// and what it knows of may be shown.
  void fence(const Warp& warp);
  /// The second half of it, as a release has by itself.
  void prepare(const Warp& warp);
  /// A write that others may read by an acquire.
  void publish(const Warp& warp, std::uint64_t address, GridOrder& order) const;
  /// A read of what others wrote. Without `acquires`, a fence has to follow.
  void observe(const Warp& warp, std::uint64_t address, bool acquires, const GridOrder& order);

  /// Whether the thread is behind an acquire at that address.
  bool has_acquired(int thread, std::uint64_t address) const;
  /// All that the thread is behind of.
  Acquired acquired(int thread) const;

  /// Those who waited at the barrier may show what those who arrived may.
  void meet(const std::vector<Arrival>& arrived, const std::vector<int>& waited);
  /// All threads have met, and their stamps are about to be forgotten.
  void settle();

 private:
  /// So many of an address's releases, by these lanes at that time.
  struct Acquisition {
    std::size_t count;
    Stamp stamp;
    Mask lanes;
  };
  bool is_behind(int thread, const Acquisition& acquisition) const;
  void acquire(const Warp& warp, std::uint64_t address, std::size_t count);

  Order* order_ = nullptr;
  std::uint64_t block_ = 0;
  std::map<std::uint64_t, std::vector<Acquisition>> acquired_;
  std::vector<Acquired> observed_;  // by warp, since its last fence
  std::vector<Release> fenced_;     // by warp; without times before its first fence
};

}  // namespace rung::vgpu
