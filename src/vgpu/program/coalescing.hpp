#pragma once
// Registers that are copies of each other, in one row.

#include <vector>

#include "vgpu/program/live_ranges.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// By register: the one that stands for all with which it is to have one row, itself in most cases.
/// Such registers have rows of one width, and where several of them are wanted at once they hold
/// the same value: each is then written by a copy of another only (G. J. Chaitin, "Register
/// Allocation & Spilling via Graph Coloring", 1982, on subsumption).
std::vector<int> coalesce_copies(const ptx::Function& function,
                                 const std::vector<LiveRange>& ranges);

}  // namespace rung::vgpu
