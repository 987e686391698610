#pragma once
// Maps PTX's virtual registers, whose number is unlimited, to rows of the warp's frame. The frame
// should fit in the CPU's L1 cache, so the allocation minimises the number of rows.

#include <cstdint>
#include <vector>

#include "vgpu/program/cfg.hpp"
#include "vgpu/program/liveness.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

struct RowAllocation {
  std::vector<std::uint32_t> offset;  // by register: offset of its row in the frame, in bytes
  std::uint32_t frame_bytes = 0;
};

/// Frame bytes that are not allocated. The carry flag is at offset 0.
inline constexpr std::uint32_t reserved_frame_bytes = 64;

/// Linear scan with lifetime holes (O. Traub, G. Holloway and M. D. Smith, "Quality and Speed in
/// Linear-scan Register Allocation", PLDI 1998), after coalescing of copies. Two registers may
/// share a row unless both are live at some instruction with different values. A destination may
/// share the row of an operand if works_in_place() is true. A copy within one row is not executed.
/// Divergent lanes do not disturb each other, because each lane follows one path and masked writes
/// only change active lanes.
/// Predicates come first, one word each; then rows of 2, 4 and 8 bytes per lane, starting at a
/// multiple of 64 bytes. An unused register has no row, and its offset is 0.
RowAllocation allocate_rows(const ptx::Function& function, const Cfg& cfg,
                            const Liveness& liveness);

}  // namespace rung::vgpu
