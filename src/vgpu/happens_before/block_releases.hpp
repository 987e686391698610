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
  void fence(const Warp& warp);
  /// The second half of that, as in a release without a fence.
  void prepare(const Warp& warp);
  /// A write that others may acquire by a read.
  void publish(const Warp& warp, std::uint64_t address, GridOrder& order) const;
  /// A read of others' writes. Unless `acquires`, a fence must follow.
  void observe(const Warp& warp, std::uint64_t address, bool acquires, const GridOrder& order);

  /// Whether the thread has acquired that release at the address.
  bool has_acquired(int thread, std::uint64_t address) const;
  /// Everything that the thread has acquired.
  Acquired acquired(int thread) const;

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

  Order* order_ = nullptr;
  std::uint64_t block_ = 0;
  std::map<std::uint64_t, std::vector<Acquisition>> acquired_;
  std::vector<Acquired> observed_;  // by warp, since its last fence
  std::vector<Release> fenced_;     // by warp; without times before its first fence
};

}  // namespace rung::vgpu
