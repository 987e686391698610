#pragma once
// Instructions that exchange values between lanes of a warp: shfl, vote, match, redux, activemask,
// elect (PTX ISA, 9.7.9.6 and 9.7.13).

#include "vgpu/model/instr.hpp"
#include "vgpu/model/warp.hpp"

namespace rung::vgpu {

/// Reports that the member mask of a warp-wide instruction names lanes (`missing`) that have not
/// exited and do not take part. Defined by the engine.
void report_bad_participant(Warp& warp, const Instr& instr, Mask missing);

/// Reports lanes (`outside`) that execute a warp-wide instruction whose member mask does not name
/// them.
void report_not_a_member(Warp& warp, const Instr& instr, Mask outside);

}  // namespace rung::vgpu
