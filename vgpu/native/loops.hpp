#pragma once
// Finds loops that consist only of translated instructions, with any number of basic blocks.

#include <algorithm>
#include <span>
#include <vector>

#include "vgpu/native/emit.hpp"

namespace rung::vgpu::native {

class Loops {
 public:
  /// Blocks of a loop: each is followed by the next, and the last by the first.
  using Path = std::vector<int>;

  /// `runs`: see chained(). Finds no loops for vectors that need several passes.
  Loops(const Kernel& kernel, std::span<const Run* const> runs, const Vectors& vectors);

  /// The shortest path from a block back to itself; empty if there is no such path.
  Path path_from(int begin) const;
  /// The lines of an iteration. Control may leave it after each block.
  Plan plan_of(const Path& path) const;
  template <class F>
  void for_each_instruction(int block, const F& f) const {
    for (const Run* run : runs_of(at(block))) std::ranges::for_each(run->instructions, f);
  }

 private:
  const BasicBlock& at(int block) const { return kernel_.blocks[static_cast<std::size_t>(block)]; }
  std::span<const Run* const> runs_of(const BasicBlock& block) const {
    return runs_.subspan(block.native_first, block.native_count);
  }
  bool is_translated(const BasicBlock& block) const;

  const Kernel& kernel_;
  const std::span<const Run* const> runs_;
  const Pass lanes_;
  std::vector<bool> is_head_;  // by block: a loop may start here
};

}  // namespace rung::vgpu::native
