// Loops over the 32 lanes of a warp that the compiler turns into vector code. Included by files
// that include engine/targets.hpp, once for each instruction set.

#if defined(RUNG_VGPU_ENGINE_LANES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef RUNG_VGPU_ENGINE_LANES_INL_HPP
#else
#define RUNG_VGPU_ENGINE_LANES_INL_HPP
#endif

#include <string>
#include <utility>

#include "vgpu/engine/lane_sources.hpp"
#include "vgpu/engine/op_table.hpp"
#include "vgpu/engine/rounding.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::vgpu::HWY_NAMESPACE {

template <bool masked, class R>
HWY_INLINE void write(R* row, int lane, Mask mask, R result) {
  if constexpr (masked) {
    row[lane] = select({lane_mask<WordOf<sizeof(R)>>(mask, lane)}, result, row[lane]);
  } else {
    row[lane] = result;
  }
}

template <class Op, bool masked, class R, class... S>
HWY_INLINE void map_in_place(R* row, Mask mask, const S... source) {
  RUNG_LANES
  for (int lane = 0; lane < warp_size; ++lane) {
    write<masked, R>(row, lane, mask, Op::run(source[lane]...));
  }
}

// A destination that has another width than a source may begin at the same place.
template <class Op, bool masked, class R, class... S>
HWY_INLINE void map_by_copy(R* row, Mask mask, const S... source) {
  alignas(64) R results[warp_size];
  for (int lane = 0; lane < warp_size; ++lane) results[lane] = Op::run(source[lane]...);
  RUNG_LANES
  for (int lane = 0; lane < warp_size; ++lane) {
    write<masked, R>(row, lane, mask, results[lane]);
  }
}

template <class R, class T>
constexpr bool may_share_lanes =
    sizeof(R) == sizeof(T) || std::is_same_v<T, bool> || is_lane_mask<T> || std::is_same_v<T, Imm>;

template <class Op, bool masked, class R, class... A, int... i>
HWY_INLINE void map(Warp& warp, const Instr& instr, R (*)(A...), std::integer_sequence<int, i...>) {
  R* const row = std::assume_aligned<64>(warp.row<R>(instr.row[0]));
  if constexpr ((may_share_lanes<R, A> && ...)) {
    map_in_place<Op, masked>(row, warp.mask, Source<A>(warp, instr, row_of_argument<A...>(i))...);
  } else {
    map_by_copy<Op, masked>(row, warp.mask, Source<A>(warp, instr, row_of_argument<A...>(i))...);
  }
}

template <class R, class... A>
std::make_integer_sequence<int, sizeof...(A)> argument_indices(R (*)(A...)) {
  return {};
}

template <class Op, bool masked>
void lanes(Warp& warp, const Instr& instr) {
  map<Op, masked>(warp, instr, &Op::run, decltype(argument_indices(&Op::run)){});
}

template <class Op, bool masked, int rounding>
void rounded_lanes(Warp& warp, const Instr& instr) {
  const RoundingScope scope(rounding);
  lanes<Op, masked>(warp, instr);
}

template <class Op>
OpSpec vector_spec() {
  return {lanes<Op, false>, lanes<Op, true>, SignatureOf<Op>::operands()};
}

template <class Op, int rounding>
OpSpec rounded_spec() {
  return {rounded_lanes<Op, false, rounding>, rounded_lanes<Op, true, rounding>,
          SignatureOf<Op>::operands()};
}

}  // namespace rung::vgpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
