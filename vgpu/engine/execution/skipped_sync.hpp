#pragma once
// Finds barriers and warp-wide instructions that threads skipped before they exited.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "vgpu/model/kernel.hpp"
#include "vgpu/model/warp.hpp"

namespace rung::vgpu {

/// Lanes of a warp that exited while others stayed.
struct EarlyExit {
  int warp;
  Mask lanes;
  std::uint32_t site;  // the branch where they left the others, if known
};

/// The branch at which these exits skipped the instruction at `site`, by the source: the statement of the
/// branch encloses the instruction. "tile.cu:7", or empty if they returned early.
std::string branch_that_skips(const Kernel& kernel, std::span<const EarlyExit> exits,
                              std::uint32_t site);

/// A branch that all threads executed and at which whole warps skipped the instruction at `site`,
/// by the source.
std::string branch_around(const Kernel& kernel, std::uint32_t site);

/// True if code after `first` reaches `second` without going round a loop.
bool leads_to(const Kernel& kernel, std::uint32_t first, std::uint32_t second);

}  // namespace rung::vgpu
