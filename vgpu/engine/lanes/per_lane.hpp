#pragma once
// Handlers for operations that are too rare or too long for SIMD code: they loop over the active
// lanes.

#include "vgpu/engine/lanes/lane_sources.hpp"
#include "vgpu/engine/lanes/op_table.hpp"

namespace rung::vgpu {

template <class Op, class R, class... A, int... i>
void run_lanes(Warp& warp, const Instr& instr, R (*)(A...), std::integer_sequence<int, i...>) {
  R* const row = warp.row<R>(instr.row[0]);
  R results[warp_size];  // a destination may start at the same address as a source of another width
  for (Mask rest = warp.mask; rest != 0; rest &= rest - 1) {
    const int lane = first_lane(rest);
    results[lane] = Op::run(Source<A>(warp, instr, row_of_argument<A...>(i))[lane]...);
  }
  for (Mask rest = warp.mask; rest != 0; rest &= rest - 1) {
    row[first_lane(rest)] = results[first_lane(rest)];
  }
}

template <class R, class... A>
std::make_integer_sequence<int, sizeof...(A)> indices_of(R (*)(A...)) {
  return {};
}

template <class Op>
void each_lane(Warp& warp, const Instr& instr) {
  run_lanes<Op>(warp, instr, &Op::run, decltype(indices_of(&Op::run)){});
}

template <class Op>
OpSpec lane_spec() {
  return make_spec(each_lane<Op>, each_lane<Op>, SignatureOf<Op>::operands);
}

}  // namespace rung::vgpu
