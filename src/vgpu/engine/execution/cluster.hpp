#pragma once
// Blocks that run together and see each other's shared memory. Without clusters, each block is one.

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "vgpu/engine/execution/block.hpp"
#include "vgpu/happens_before/async_order.hpp"

namespace rung::vgpu {

/// A bulk copy into shared memory that has not come yet, or arrivals at an mbarrier that wait for
/// copies.
struct Landing {
  struct Target {
    int rank;
    std::uint32_t write;  // AsyncShadow::writes
  };
  std::vector<Target> targets;
  std::uint32_t barrier = 0;  // offset of the mbarrier, in each target
  std::uint32_t bytes = 0;    // that it is told of
  struct Piece {
    std::uint32_t to;    // offset in shared memory
    std::uint32_t from;  // in `data`
    std::uint32_t bytes;
  };
  std::vector<Piece> pieces;
  std::vector<std::byte> data;  // as read when the copy was issued
};

class Cluster {
 public:
  explicit Cluster(Worker& worker);
  ~Cluster();

  /// Makes it the cluster of that index, its blocks at their beginnings.
  void start(std::uint64_t index);
  /// As Block::run. Copies come when nobody can go on without them, one at a time, oldest first:
  /// who forgets to wait sees that they have not come.
  Block::Status run();

  Block& block(int rank) { return *blocks_[static_cast<std::size_t>(rank)]; }
  const std::vector<std::unique_ptr<Block>>& blocks() const { return blocks_; }
  int size() const { return static_cast<int>(blocks_.size()); }
  bool has_ended(int rank) const { return ended_[static_cast<std::size_t>(rank)]; }

  /// barrier.cluster: threads of the warp have come.
  void arrive(Warp& warp, const Instr& instr, bool releases);
  /// Suspends the warp's split until all have come that live.
  void wait(Warp& warp, const Instr& instr);
  std::uint32_t missing() const;  // threads

  /// Whether a failed test of an mbarrier should end the warp's turn for long: false if nothing has
  /// moved in the cluster for so many tests that nothing ever will.
  bool may_still_come();
  /// Something happened that somebody may wait for.
  void moved() { idle_tests_ = 0; }
  /// The oldest copy comes; false if there is none.
  bool land();

  AsyncOrder order;
  std::deque<Landing> landings;

 private:
  void end_block(int rank);
  bool complete_if_all_came();

  Worker& worker_;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::vector<bool> ended_;
  int idle_tests_ = 0;

  std::uint32_t arrived_ = 0;  // threads, in the current phase of the barrier
  std::uint32_t phase_ = 0;
  Clock gathered_, released_;
  struct Waiter {
    Warp* warp;
    int split;
  };
  std::vector<Waiter> waiting_;
};

}  // namespace rung::vgpu
