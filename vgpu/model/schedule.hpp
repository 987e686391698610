#pragma once
// The order in which a launch runs its blocks, warps and parts of warps, if a seed chooses it
// (vgpu/schedule.hpp).

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "vgpu/model/shape.hpp"

namespace rung::vgpu {

/// Pseudo-random choices by SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number
/// generators, OOPSLA 2014).
class Schedule {
 public:
  explicit Schedule(std::uint64_t seed);

  /// A number less than `count`, which is not 0.
  std::uint64_t below(std::uint64_t count) { return next() % count; }
  bool one_in(std::uint64_t count) { return below(count) == 0; }

  /// The block or cluster that starts as number `index` of `count`: a permutation.
  std::uint64_t permuted(std::uint64_t index, std::uint64_t count) const;
  /// True if another block starts while `resident` ones have not ended.
  bool starts_another(std::size_t resident);
  /// Warp instructions of a turn, at most `most`.
  std::uint64_t turn(std::uint64_t most);

  template <class T>
  void shuffle(std::span<T> items) {
    for (std::size_t left = items.size(); left > 1; --left) {
      std::swap(items[left - 1], items[below(left)]);
    }
  }

  /// True if a warp is interrupted before an access to memory.
  bool interrupts() { return interrupted_ != 0 && one_in(interrupted_); }
  /// Keeps the shapes of a basic block (Worker::shapes) in which a split is interrupted, and restores them.
  void keep(const Split& split, const std::vector<Shape>& shapes) { kept_[&split] = shapes; }
  void restore(const Split& split, std::vector<Shape>& shapes);

 private:
  std::uint64_t next();

  std::uint64_t state_;
  std::uint64_t key_;          // of permuted()
  std::uint64_t interrupted_;  // one of this many accesses; 0: none
  std::map<const Split*, std::vector<Shape>> kept_;
};

/// A random order of nodes 0 to after.size() - 1 in which each comes after the nodes after[i].
std::vector<std::size_t> random_order(const std::vector<std::vector<std::size_t>>& after,
                                      Schedule& schedule);

/// The seed of all later launches, and that of the next one; 0: the usual order.
void set_launch_seed(std::uint64_t seed);
std::uint64_t next_launch_seed();

/// The schedule of the launch that this thread runs; null in the usual order.
Schedule* running_schedule();

/// Makes a schedule that of this thread's launch.
class RunningSchedule {
 public:
  explicit RunningSchedule(Schedule* schedule);
  ~RunningSchedule();
  RunningSchedule(const RunningSchedule&) = delete;
  RunningSchedule& operator=(const RunningSchedule&) = delete;

 private:
  Schedule* outer_;
};

}  // namespace rung::vgpu
