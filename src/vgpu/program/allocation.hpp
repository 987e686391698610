#pragma once
// Registers of PTX, of which there are as many as one likes, to rows of the warp's frame, of which
// there should be few: a frame is to stay in the first-level cache.

#include <cstdint>
#include <vector>

#include "vgpu/program/cfg.hpp"
#include "vgpu/program/liveness.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

struct RowAllocation {
  std::vector<std::uint32_t> offset;  // of each register's row, in bytes from the frame's begin
  std::uint32_t frame_bytes = 0;
};

/// Frame bytes that are not handed out: the carry flag is at 0.
inline constexpr std::uint32_t reserved_frame_bytes = 64;

/// Linear scan with lifetime holes (O. Traub, G. Holloway and M. D. Smith, "Quality and Speed in
/// Linear-scan Register Allocation", PLDI 1998), after copies were coalesced. Two registers may
/// have one row if at no place of the text both hold a value that is still wanted, unless it is the
/// same value; a destination may have the row of an operand where works_in_place() holds. A copy
/// within a row need not be run. Lanes that took different branches do not disturb each other: each
/// lane follows one path, and a masked write touches its own lanes only.
///
/// Predicates lie first, one word after the other; then rows of 2, 4 and 8 bytes a lane, from a
/// multiple of 64 bytes on. A register that nothing refers to has no row: its offset is 0.
RowAllocation allocate_rows(const ptx::Function& function, const Cfg& cfg,
                            const Liveness& liveness);

}  // namespace rung::vgpu
