#pragma once
// The members of a warp-wide instruction.

#include "vgpu/engine/warp/warp_ops.hpp"

namespace rung::vgpu {

/// The active lanes that are not in their own member mask in `masks`.
inline Mask lanes_outside(const Warp& warp, const Mask* masks) {
  Mask outside = 0;
  for (Mask rest = warp.mask; rest != 0; rest &= rest - 1) {
    const Mask lane = rest & (~rest + 1);
    if ((masks[first_lane(rest)] & lane) == 0) outside |= lane;
  }
  return outside;
}

/// PTX names the lanes that take part; Metal's functions of a simdgroup act on the lanes that are
/// active, whatever the others do.
enum class Participants : std::uint8_t { named, active };

/// Calls f(lane, members) for each active lane, where members are the active lanes in its member
/// mask. Several groups of lanes, each with its own mask, may execute the instruction together.
/// Reports named lanes that have not exited but are not active, and lanes that are not in their own
/// mask.
template <Participants participants = Participants::named, class F>
void for_each_member(Warp& warp, const Instr& instr, std::size_t mask_operand, const F& f) {
  const Mask* const masks = warp.row<Mask>(instr.row[mask_operand]);
  Mask members[warp_size];  // copied, because the destination may share the row of the masks
  Mask named = 0;
  for (Mask rest = warp.mask; rest != 0; rest &= rest - 1) {
    members[first_lane(rest)] = masks[first_lane(rest)];
    named |= masks[first_lane(rest)];
  }
  if (const Mask outside = lanes_outside(warp, masks)) report_not_a_member(warp, instr, outside);
  const Mask missing = named & warp.live & ~warp.mask;
  if (participants == Participants::named) {
    if (missing != 0) report_bad_participant(warp, instr, missing);
    if ((named & ~warp.live) != 0) report_exited_members(warp, instr, named & ~warp.live);
  }
  for (Mask rest = warp.mask; rest != 0; rest &= rest - 1) {
    f(first_lane(rest), members[first_lane(rest)] & warp.mask);
  }
}

/// Sets a lane's bit of a predicate.
inline void set_bit(Mask& predicate, int lane, bool value) {
  const Mask bit = Mask{1} << lane;
  predicate = value ? predicate | bit : predicate & ~bit;
}

}  // namespace rung::vgpu
