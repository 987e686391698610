#pragma once
// One block's part of happens_before/grid_order.hpp: the releases that its threads have acquired,
// and what a write by each warp releases.

#include <cstdint>
#include <map>
#include <vector>

#include "vgpu/happens_before/grid_order.hpp"

namespace rung::vgpu {

class BlockReleases {
 public:
  /// Starts a block of `warps` warps. `block` is its linear index in the grid, `order` its order of
  /// synchronization.
  void start(Order& order, std::uint64_t block, int warps);

  /// membar.gl, fence.acq_rel.gpu and stronger: completes the acquires of the warp's previous
  /// reads, and makes its later writes releases.
  void fence(const Warp& warp, const GridOrder& order);
  /// Only makes later writes releases, as a release without a fence does.
  void prepare(const Warp& warp);
  /// fence.proxy.async: from now on, bulk copies of the block see everything ordered before this
  /// fence of the warp.
  void fence_proxy(const Warp& warp);
  /// Records a write that others may acquire by a read.
  void publish(const Warp& warp, std::uint64_t address, GridOrder& order) const;
  /// True if a write by the warp releases what a fence is ordered after.
  bool has_fenced(const Warp& warp) const;
  /// Records a read of other threads' writes. Unless `acquires`, it acquires only at a later fence.
  void observe(const Warp& warp, std::uint64_t address, bool acquires, const GridOrder& order);

  /// True if the thread has acquired that release at the address.
  bool has_acquired(int thread, std::uint64_t address) const;
  /// All releases that the thread has acquired.
  Acquired acquired(int thread) const;
  // The following describe what bulk copies see: everything before a proxy fence of any warp.
  // Acquired releases of other blocks.
  const Acquired& fenced() const { return fenced_acquired_; }
  /// True if segment `time` of a warp of this block precedes a proxy fence.
  bool is_fenced(int warp, std::uint32_t time) const {
    return !fenced_times_.empty() && fenced_times_[static_cast<std::size_t>(warp)] >= time;
  }

  /// After a barrier: the warps that waited acquire what the warps that arrived have acquired.
  void meet(const std::vector<Arrival>& arrived, const std::vector<int>& waited);
  /// Called when all threads have synchronized and their stamps are about to be reset.
  void settle();

 private:
  /// An acquire of the first `count` releases at an address, with its time and lanes.
  struct Acquisition {
    std::size_t count;
    Stamp stamp;
    Mask lanes;
  };
  bool is_ordered_after(int thread, const Acquisition& acquisition) const;
  void acquire(const Warp& warp, std::uint64_t address, std::size_t count);
  /// Acquires the releases of this block's own warps at the address.
  void acquire_own(const Warp& warp, std::uint64_t address, const GridOrder& order);
  /// By warp of the block: its last segment that is ordered before this warp.
  std::vector<std::uint32_t> known_times(const Warp& warp) const;

  Order* order_ = nullptr;
  std::uint64_t block_ = 0;
  bool used_ = false;  // something has been recorded since start()
  std::map<std::uint64_t, std::vector<Acquisition>> acquired_;
  std::vector<Acquired> observed_;  // by warp, since its last fence
  std::vector<Acquired> own_;       // by warp: acquired from this block's releases
  std::vector<Release> fenced_;     // by warp; without times before its first fence
  // From the proxy fences of all warps together.
  std::vector<std::uint32_t> fenced_times_;
  Acquired fenced_acquired_;
};

}  // namespace rung::vgpu
