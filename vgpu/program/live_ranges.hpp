#pragma once
// Live ranges of registers, as positions in the text.

#include <cstddef>
#include <vector>

#include "vgpu/program/liveness.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// The half-open range [begin, end). Instruction i reads at 2i and writes at 2i + 1.
struct Segment {
  std::size_t begin, end;
};

/// Segments in ascending order, with holes in between.
using LiveRange = std::vector<Segment>;

/// The live ranges by register. Operands of an instruction stay live until after its write, unless
/// works_in_place() is true.
std::vector<LiveRange> live_ranges(const ptx::Function& function, const Cfg& cfg,
                                   const Liveness& liveness);

}  // namespace rung::vgpu
