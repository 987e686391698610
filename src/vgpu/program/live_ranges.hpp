#pragma once
// Where in the text each register holds a value that is still wanted.

#include <cstddef>
#include <vector>

#include "vgpu/program/liveness.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// From `begin` to before `end`. Instruction i reads at 2i and writes at 2i + 1.
struct Segment {
  std::size_t begin, end;
};

/// Ascending, with holes between.
using LiveRange = std::vector<Segment>;

/// By register. What an instruction reads lives on until after its write, unless works_in_place().
std::vector<LiveRange> live_ranges(const ptx::Function& function, const Cfg& cfg,
                                   const Liveness& liveness);

}  // namespace rung::vgpu
