// A separate file, so that tests of the instructions can link a replacement.

#include <fmt/format.h>

#include "vgpu/engine/execution/report.hpp"
#include "vgpu/engine/warp/warp_ops.hpp"

namespace rung::vgpu {

void report_bad_participant(Warp& warp, const Instr& instr, Mask missing) {
  const Mask gone = missing & ~warp.live;
  report(*warp.block, HazardKind::bad_participant, warp.block->thread(warp, first_lane(warp.mask)),
         instr.site, "exchange", {},
         gone == missing ? "it names lanes that have exited or never were"
                         : "it names lanes of the warp that are elsewhere");
}

void report_absent_source(Warp& warp, const Instr& instr, Mask readers) {
  report(*warp.block, HazardKind::bad_participant, warp.block->thread(warp, first_lane(readers)),
         instr.site, "exchange", {}, "it reads a lane that the block does not have");
}

void report_exited_members(Warp& warp, const Instr& instr, Mask named) {
  warp.block->check_exited_members(warp, instr.site, named);
}

void report_not_a_member(Warp& warp, const Instr& instr, Mask outside) {
  report(*warp.block, HazardKind::bad_participant, warp.block->thread(warp, first_lane(outside)),
         instr.site, "exchange", {},
         fmt::format("lanes {:#010x} are not in the member mask that they give", outside));
}

}  // namespace rung::vgpu
