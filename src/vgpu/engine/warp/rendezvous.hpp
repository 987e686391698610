#pragma once
// Lanes of one warp that come to a warp-wide instruction apart wait for each other there, as the
// PTX ISA has it of the .sync forms: "wait until all non-exited threads corresponding to membermask
// have executed" it.

#include "vgpu/model/instr.hpp"

namespace rung::vgpu {

/// Stands before each such instruction: the lanes of the split wait until the lanes that their
/// member masks name (row 0) have come, or cannot come any more.
void wait_for_members(Warp& warp, const Instr& instr);
/// The same where the whole warp is here.
void all_members_here(Warp& warp, const Instr& instr);

}  // namespace rung::vgpu
