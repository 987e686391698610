#pragma once
// Divergent lanes that reach a warp-wide instruction separately wait for each other, as the PTX ISA
// defines the .sync forms: "wait until all non-exited threads corresponding to membermask have
// executed" it.

#include "vgpu/model/instr.hpp"

namespace rung::vgpu {

/// Inserted before each such instruction: the lanes of the split wait until the lanes that their
/// member masks name (row 0) have arrived, or can no longer arrive.
void wait_for_members(Warp& warp, const Instr& instr);
/// Replaces wait_for_members() if the whole warp is active.
void all_members_here(Warp& warp, const Instr& instr);

}  // namespace rung::vgpu
