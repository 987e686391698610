#pragma once
// Records the last accesses to the tensor memory of a block, in units of 16 lanes of one column.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rung::vgpu {

/// An access by a tcgen05 instruction. It is complete for any agent whose clock component `component` is at
/// least `number`: the warp's loads or stores that it waited for with tcgen05.wait, or its multiplications,
/// copies and shifts whose tcgen05.commit has arrived at an mbarrier.
struct TensorUse {
  std::uint32_t site = 0;
  int rank = 0, thread = 0;
  std::size_t component = 0;
  std::uint32_t number = 0;
  std::uint32_t segment = 0;  // of the warp when it issued the access
  bool is_pipelined = false;  // a multiplication, copy or shift, which start in the order of issue
  bool is_load = false;       // tcgen05.ld
  const char* what = "";      // "tcgen05.mma", …
};

class TensorShadow {
 public:
  static constexpr int lanes_of_unit = 16;

  /// `slots`: number of warpgroups, whose loads are recorded each, and one for pipelined reads.
  void start(int lanes, int columns, int slots) {
    columns_ = columns;
    slots_ = slots;
    const std::size_t units = static_cast<std::size_t>(lanes / lanes_of_unit) * columns;
    written_.assign(units, 0);
    readers_.assign(units * static_cast<std::size_t>(slots), 0);
    uses.assign(1, {});
  }
  int slots() const { return slots_; }
  int pipelined_slot() const { return slots_ - 1; }

  std::uint32_t& write_at(int lane, int column) { return written_[index(lane, column)]; }
  std::uint32_t& read_at(int lane, int column, int slot) {
    return readers_[index(lane, column) * static_cast<std::size_t>(slots_) + slot];
  }

  std::vector<TensorUse> uses;  // index 0 means none

 private:
  std::size_t index(int lane, int column) const {
    return static_cast<std::size_t>(lane / lanes_of_unit) * columns_ + column;
  }

  int columns_ = 0, slots_ = 1;
  std::vector<std::uint32_t> written_, readers_;
};

}  // namespace rung::vgpu
