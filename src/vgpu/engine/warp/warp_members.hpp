#pragma once
// Who takes part in a warp-wide instruction.

#include "vgpu/engine/warp/warp_ops.hpp"

namespace rung::vgpu {

/// Active lanes whose member mask, in their element of `masks`, does not name them.
inline Mask lanes_outside(const Warp& warp, const Mask* masks) {
  Mask outside = 0;
  for (Mask rest = warp.mask; rest != 0; rest &= rest - 1) {
    const Mask lane = rest & (~rest + 1);
    if ((masks[first_lane(rest)] & lane) == 0) outside |= lane;
  }
  return outside;
}

/// Calls f(lane, members) for each active lane, where members are the active lanes that its member
/// mask names. Lanes of several groups, each with its own mask, may run the instruction at once.
/// Lanes that are named, have not exited and are elsewhere are reported, and so are lanes that do
/// not name themselves.
template <class F>
void for_each_member(Warp& warp, const Instr& instr, std::size_t mask_operand, const F& f) {
  const Mask* const masks = warp.row<Mask>(instr.row[mask_operand]);
  Mask members[warp_size];  // a destination may be the row of the masks
  Mask named = 0;
  for (Mask rest = warp.mask; rest != 0; rest &= rest - 1) {
    members[first_lane(rest)] = masks[first_lane(rest)];
    named |= masks[first_lane(rest)];
  }
  if (const Mask outside = lanes_outside(warp, masks)) report_not_a_member(warp, instr, outside);
  const Mask missing = named & warp.live & ~warp.mask;
  if (missing != 0) report_bad_participant(warp, instr, missing);
  for (Mask rest = warp.mask; rest != 0; rest &= rest - 1) {
    f(first_lane(rest), members[first_lane(rest)] & warp.mask);
  }
}

/// Sets the lane's bit of a predicate.
inline void set_bit(Mask& predicate, int lane, bool value) {
  const Mask bit = Mask{1} << lane;
  predicate = value ? predicate | bit : predicate & ~bit;
}

}  // namespace rung::vgpu
