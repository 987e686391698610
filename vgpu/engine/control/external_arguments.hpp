#pragma once
// Access to a lane's arguments and result in local memory, shared by the handlers of external
// functions.

#include <cstddef>
#include <cstring>

#include "vgpu/engine/execution/block.hpp"

namespace rung::vgpu {

/// External functions have effects that last: the block cannot start again.
template <class F>
void for_lanes(const Warp& warp, const F& f) {
  warp.block->can_restart = false;
  for (Mask left = warp.mask; left != 0; left &= left - 1) f(first_lane(left));
}

inline const ExternalCall& call_of(const Instr& instr) { return instr.op<ExternalCall>(); }

template <class T>
T argument(Warp& warp, const Instr& instr, int lane, std::size_t index) {
  T value;
  std::memcpy(&value, warp.block->local(warp, lane) + call_of(instr).arguments[index],
              sizeof value);
  return value;
}

template <class T>
void set_result(Warp& warp, const Instr& instr, int lane, T value) {
  const ExternalCall& call = call_of(instr);
  if (call.has_result) {
    std::memcpy(warp.block->local(warp, lane) + call.result, &value, sizeof value);
  }
}

}  // namespace rung::vgpu
