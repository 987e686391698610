#pragma once
// Instructions under a guard (@p), and moves between rows of different widths.

#include "vgpu/model/instr.hpp"

namespace rung::vgpu {

/// Runs `inner`, which must stay where it is, for the lanes whose predicate holds. `counts`: the
/// others are counted as turned off.
Instr guarded_by(const Instr& inner, std::uint32_t predicate_row, bool negated, bool counts);

/// Row 0 from row 1, of so many bytes a lane: cut, or widened with zeros or the sign. nullptr if
/// there is none.
Handler resize_handler(int to_bytes, int from_bytes, bool sign);

}  // namespace rung::vgpu
