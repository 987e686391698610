#pragma once
// The order in which a launch runs its blocks, warps and parts of warps, chosen by a seed
// (LaunchOptions::schedule). Equal seeds give equal orders, so that a result can be repeated.

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace rung::vgpu {

/// Pseudo-random numbers by SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number
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
  bool starts_another(std::size_t resident) { return resident == 0 || one_in(1 + resident / 4); }
  /// Warp instructions of a turn, at most `most`.
  std::uint64_t turn(std::uint64_t most);
  /// True if a warp is interrupted before an access to memory.
  bool interrupts() { return interrupted_ != 0 && one_in(interrupted_); }

  template <class T>
  void shuffle(std::span<T> items) {
    for (std::size_t left = items.size(); left > 1; --left) {
      std::swap(items[left - 1], items[below(left)]);
    }
  }

 private:
  std::uint64_t next();

  std::uint64_t state_;
  std::uint64_t key_;          // of permuted()
  std::uint64_t interrupted_;  // one of this many accesses; 0: none
};

/// A random order of nodes 0 to after.size() - 1 in which each comes after the nodes after[i].
std::vector<std::size_t> random_order(const std::vector<std::vector<std::size_t>>& after,
                                      Schedule& schedule);

}  // namespace rung::vgpu
