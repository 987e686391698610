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
  /// Starts a block of that many warps; `block` is its linear index in the grid, `order` its own
  /// order.
  void start(Order& order, std::uint64_t block, int warps);

  /// membar.gl, fence.acq_rel.gpu and stronger: completes the acquires of the warp's previous
  /// reads, and makes its later writes releases.
  void fence(const Warp& warp, const GridOrder& order);
  /// The second half of that, as in a release without a fence.
  void prepare(const Warp& warp);
  /// fence.proxy.async: bulk copies of the block see from now on what the warp knows.
  void fence_proxy(const Warp& warp);
  /// A write that others may acquire by a read.
  void publish(const Warp& warp, std::uint64_t address, GridOrder& order) const;
  /// A read of others' writes. Unless `acquires`, a fence must follow.
  void observe(const Warp& warp, std::uint64_t address, bool acquires, const GridOrder& order);

  /// Whether the thread has acquired that release at the address.
  bool has_acquired(int thread, std::uint64_t address) const;
  /// Everything that the thread has acquired.
  Acquired acquired(int thread) const;
  // What bulk copies see: behind a proxy fence of any warp.
  /// Of other blocks' releases.
  const Acquired& fenced() const { return fenced_acquired_; }
  /// Of a warp of this block.
  bool is_fenced(int warp, std::uint32_t time) const {
    return !fenced_times_.empty() && fenced_times_[static_cast<std::size_t>(warp)] >= time;
  }

  /// Warps that waited at the barrier learn what those that arrived know.
  void meet(const std::vector<Arrival>& arrived, const std::vector<int>& waited);
  /// All threads have met, and their stamps are about to be reset.
  void settle();

 private:
  /// An acquire of the first `count` releases at an address, by these lanes at that time.
  struct Acquisition {
    std::size_t count;
    Stamp stamp;
    Mask lanes;
  };
  bool is_behind(int thread, const Acquisition& acquisition) const;
  void acquire(const Warp& warp, std::uint64_t address, std::size_t count);
  /// What warps of this block have released at the address.
  void acquire_own(const Warp& warp, std::uint64_t address, const GridOrder& order);
  /// Per warp of the block: its segments that this one knows.
  std::vector<std::uint32_t> known_times(const Warp& warp) const;

  Order* order_ = nullptr;
  std::uint64_t block_ = 0;
  bool used_ = false;  // something has been recorded since start()
  std::map<std::uint64_t, std::vector<Acquisition>> acquired_;
  std::vector<Acquired> observed_;  // by warp, since its last fence
  std::vector<Acquired> own_;       // by warp: of this block's releases
  std::vector<Release> fenced_;     // by warp; without times before its first fence
  // Of proxy fences, of all warps together.
  std::vector<std::uint32_t> fenced_times_;
  Acquired fenced_acquired_;
};

}  // namespace rung::vgpu
