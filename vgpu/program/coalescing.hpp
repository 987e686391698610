#pragma once
// Copy coalescing: registers that are copies of each other share a row.

#include <vector>

#include "vgpu/program/live_ranges.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// For each register, the representative of the registers that share its row, usually itself. They
/// have the same width, and if several of them are live at once they hold the same value, because
/// each is written only by copies of another (G. J. Chaitin, "Register Allocation & Spilling via
/// Graph Coloring", 1982, on subsumption).
std::vector<int> coalesce_copies(const ptx::Function& function,
                                 const std::vector<LiveRange>& ranges);

}  // namespace rung::vgpu
