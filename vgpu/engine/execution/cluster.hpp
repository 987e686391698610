#pragma once
// A cluster: blocks that run together and can access each other's shared memory. Without clusters,
// each block forms a cluster of its own.

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "vgpu/engine/execution/block.hpp"
#include "vgpu/engine/observers.hpp"
#include "vgpu/happens_before/async_order.hpp"

namespace rung::vgpu {

/// A bulk copy into shared memory that is in flight, or arrivals at an mbarrier that wait for
/// copies.
struct Landing {
  struct Target {
    int rank;
    std::uint32_t write;  // index in AsyncShadow::writes
    int barrier_rank;     // the block of its mbarrier
  };
  std::vector<Target> targets;
  std::uint32_t barrier = 0;  // offset of the mbarrier, in each target
  std::uint32_t bytes = 0;    // subtracted from its tx-count
  struct Piece {
    std::uint32_t to;    // offset in shared memory
    std::uint32_t from;  // in `data`
    std::uint32_t bytes;
  };
  std::vector<Piece> pieces;
  std::vector<std::byte> data;  // as read when the copy was issued
  std::vector<GlobalRange> sources;
  int rank = 0, thread = 0;  // the issuer
  std::uint32_t site = 0;
  // tcgen05.commit: one arrival at each target.
  bool is_commit = false;
  Clock clock;  // of the issuer, with the instructions that the commit covers
};

class Cluster {
 public:
  explicit Cluster(Worker& worker);
  ~Cluster();

  /// Initialises this and its blocks as the cluster with that index.
  void start(std::uint64_t index);
  /// Runs like Block::run(). Copies complete only when no thread can proceed without them, one at a
  /// time, oldest first, so that a missing wait reads stale data.
  Block::Status run();

  Block& block(int rank) { return *blocks_[static_cast<std::size_t>(rank)]; }
  const std::vector<std::unique_ptr<Block>>& blocks() const { return blocks_; }
  Worker& worker() const { return worker_; }
  std::uint64_t index() const { return index_; }
  int size() const { return static_cast<int>(blocks_.size()); }
  bool has_ended(int rank) const { return ended_[static_cast<std::size_t>(rank)]; }

  /// barrier.cluster.arrive by the active threads of the warp.
  void arrive(Warp& warp, const Instr& instr, bool releases);
  /// Suspends the warp's split until all threads that have not exited have arrived.
  void wait(Warp& warp, const Instr& instr);
  /// Called after a turn. Returns true, after a report, if no running cluster of the launch can proceed
  /// because lanes of a warp wait for each other.
  bool spins_forever();
  std::uint32_t missing() const;  // number of threads that have not arrived

  /// Called after a failed test of an mbarrier. Returns false after too many failed tests without
  /// progress in the cluster: no test can succeed any more.
  bool may_still_arrive();
  /// Resets the count of failed tests after progress that a thread may wait for.
  void moved() { idle_tests_ = 0; }
  /// Completes the oldest copy. Returns false if no copy is in flight.
  bool land();

  AsyncOrder order;
  std::deque<Landing> landings;

 private:
  void end_block(int rank);
  bool complete_if_all_arrived();

  Worker& worker_;
  TurnStates states_;
  std::uint64_t sampled_ = 0;  // Worker::spent when the state was last recorded
  std::uint64_t index_ = 0;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::vector<bool> ended_;
  int idle_tests_ = 0;

  std::uint32_t arrived_ = 0;  // number of threads, in the current phase of the barrier
  std::uint32_t phase_ = 0;
  Clock gathered_, released_;
  struct Waiter {
    Warp* warp;
    int split;
  };
  std::vector<Waiter> waiting_;
};

}  // namespace rung::vgpu
