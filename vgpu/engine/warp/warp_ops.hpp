#pragma once
// Instructions that exchange values between lanes of a warp: shfl, vote, match, redux, activemask,
// elect (PTX ISA, 9.7.9.6 and 9.7.13).

#include "vgpu/model/instr.hpp"
#include "vgpu/model/warp.hpp"

namespace rung::vgpu {

/// Reports that the member mask of a warp-wide instruction names lanes (`missing`) that have not
/// exited but do not execute the instruction. Defined by the engine.
void report_bad_participant(Warp& warp, const Instr& instr, Mask missing);

/// Reports lanes (`readers`) that receive the value of a lane that has exited or that the block lacks.
void report_absent_source(Warp& warp, const Instr& instr, Mask readers);

/// Reports lanes (`outside`) that execute a warp-wide instruction but are not in its member mask.
void report_not_a_member(Warp& warp, const Instr& instr, Mask outside);

/// Reports lanes in the member mask (`named`) that have exited because they took another branch.
void report_exited_members(Warp& warp, const Instr& instr, Mask named);

}  // namespace rung::vgpu
