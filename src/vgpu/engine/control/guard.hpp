#pragma once
// Guarded instructions (@p), and moves between rows of different widths.

#include "vgpu/model/instr.hpp"

namespace rung::vgpu {

/// An instruction that runs `inner` for the lanes whose predicate holds. `inner` must not move.
/// `counts`: count the other lanes as predicated off.
Instr guarded_by(const Instr& inner, std::uint32_t predicate_row, bool negated, bool counts);

/// A handler that copies row 1 to row 0, with those bytes per lane, truncated, zero-extended or
/// sign-extended. nullptr if there is none.
Handler resize_handler(int to_bytes, int from_bytes, bool sign);

}  // namespace rung::vgpu
