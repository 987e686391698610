#pragma once
// Instructions by which lanes of a warp exchange values: shfl, vote, match, redux, activemask,
// elect (PTX ISA, 9.7.9.6 and 9.7.13).

#include "vgpu/model/instr.hpp"
#include "vgpu/model/warp.hpp"

namespace rung::vgpu {

/// A hazard: the member mask of a warp-wide instruction names lanes (`missing`) that have not
/// exited and do not take part. Defined by the engine.
void report_bad_participant(Warp& warp, const Instr& instr, Mask missing);

/// A hazard: lanes (`outside`) that run a warp-wide instruction with a member mask that does not
/// name them.
void report_not_a_member(Warp& warp, const Instr& instr, Mask outside);

}  // namespace rung::vgpu
