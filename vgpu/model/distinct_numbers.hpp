#pragma once
// Finds duplicates among a few numbers, such as the addresses or sectors of a warp.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace rung::vgpu {

/// A set of at most `most` numbers (a power of two), in a hash table with linear probing that is at
/// most half full.
template <std::size_t most>
class DistinctNumbers {
 public:
  DistinctNumbers() { slots_.fill(-1); }

  int count() const { return count_; }

  /// The number's index in the order of insertion. Inserts it if it is new: its index is then the
  /// previous count().
  int index_of(std::uint64_t number) {
    // Fast path: neighbouring lanes often have the same number.
    if (count_ != 0 && numbers_[last_] == number) return static_cast<int>(last_);
    constexpr std::uint64_t golden_ratio = 0x9E3779B97F4A7C15;
    auto slot = static_cast<std::size_t>(number * golden_ratio >> (64 - log2_slots));
    for (; slots_[slot] >= 0; slot = (slot + 1) & (slots_.size() - 1)) {
      last_ = static_cast<std::size_t>(slots_[slot]);
      if (numbers_[last_] == number) return static_cast<int>(last_);
    }
    last_ = static_cast<std::size_t>(count_);
    numbers_[last_] = number;
    slots_[slot] = static_cast<std::int8_t>(count_);
    return count_++;
  }

 private:
  static constexpr int log2_slots = std::countr_zero(most) + 1;
  static_assert(std::has_single_bit(most) && most <= 64);

  std::array<std::int8_t, 2 * most> slots_;  // indices into numbers_; negative: free
  std::array<std::uint64_t, most> numbers_;
  std::size_t last_ = 0;
  int count_ = 0;
};

}  // namespace rung::vgpu
