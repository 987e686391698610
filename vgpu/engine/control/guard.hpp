#pragma once
// Guarded instructions (@p), and moves between rows of different widths.

#include "vgpu/model/instr.hpp"

namespace rung::vgpu {

/// Returns an instruction that runs `inner` for the lanes whose predicate holds. `inner` must not
/// move. `counts`: count the other lanes as predicated off.
Instr guarded_by(const Instr& inner, std::uint32_t predicate_row, bool negated, bool counts);

/// Returns a handler that copies row 1 to row 0 with these widths in bytes per lane, truncating,
/// zero-extending or sign-extending. nullptr if the combination is not supported.
Handler resize_handler(int to_bytes, int from_bytes, bool sign);

}  // namespace rung::vgpu
