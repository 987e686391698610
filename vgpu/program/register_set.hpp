#pragma once
// Sets of registers as bit vectors, because data-flow analysis computes unions of thousands of sets
// with thousands of registers.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rung::vgpu {

class RegisterSet {
 public:
  /// An empty set for registers [0, size).
  explicit RegisterSet(std::size_t size) : words_((size + 63) / 64, 0) {}

  bool contains(int reg) const { return (words_[word(reg)] >> (reg % 64) & 1) != 0; }
  void insert(int reg) { words_[word(reg)] |= std::uint64_t{1} << (reg % 64); }
  void erase(int reg) { words_[word(reg)] &= ~(std::uint64_t{1} << (reg % 64)); }

  /// Inserts the registers of `other` that are not in `except`. Returns true if that changed the
  /// set.
  bool insert(const RegisterSet& other, const RegisterSet& except) {
    std::uint64_t changed = 0;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const std::uint64_t more = other.words_[i] & ~except.words_[i] & ~words_[i];
      words_[i] |= more;
      changed |= more;
    }
    return changed != 0;
  }

  /// Calls f(register index) in ascending order.
  template <class F>
  void for_each(const F& f) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      for (std::uint64_t left = words_[i]; left != 0; left &= left - 1) {
        f(static_cast<int>(i * 64) + std::countr_zero(left));
      }
    }
  }

  bool operator==(const RegisterSet&) const = default;

 private:
  static std::size_t word(int reg) { return static_cast<std::size_t>(reg) / 64; }
  std::vector<std::uint64_t> words_;
};

}  // namespace rung::vgpu
