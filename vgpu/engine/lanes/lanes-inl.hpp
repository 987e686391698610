// Loops over the 32 lanes of a warp that the compiler vectorizes. Files that include
// engine/lanes/targets.hpp include this one, once per instruction set.

#if defined(RUNG_VGPU_ENGINE_LANES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef RUNG_VGPU_ENGINE_LANES_INL_HPP
#else
#define RUNG_VGPU_ENGINE_LANES_INL_HPP
#endif

#include <string>
#include <utility>

#include "vgpu/engine/lanes/lane_sources.hpp"
#include "vgpu/engine/lanes/op_table.hpp"
#include "vgpu/engine/numbers/rounding.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::vgpu::HWY_NAMESPACE {

template <class Op, class R, class... S>
HWY_INLINE void map_in_place(R* row, const S... source) {
  RUNG_LANES
  for (int lane = 0; lane < warp_size; ++lane) row[lane] = Op::run(source[lane]...);
}

// Writes to a copy first: a destination may start at the same address as a source of another width.
template <class Op, class R, class... S>
HWY_INLINE void map_by_copy(R* row, const S... source) {
  alignas(64) R results[warp_size];
  for (int lane = 0; lane < warp_size; ++lane) results[lane] = Op::run(source[lane]...);
  RUNG_LANES
  for (int lane = 0; lane < warp_size; ++lane) row[lane] = results[lane];
}

template <class R, class T>
constexpr bool may_share_lanes =
    sizeof(R) == sizeof(T) || std::is_same_v<T, bool> || is_lane_mask<T> || std::is_same_v<T, Imm>;

template <class Op, class R, class... A, int... i>
HWY_INLINE void map(Warp& warp, const Instr& instr, R (*)(A...), std::integer_sequence<int, i...>) {
  R* const row = std::assume_aligned<64>(warp.row<R>(instr.row[0]));
  if constexpr ((may_share_lanes<R, A> && ...)) {
    map_in_place<Op>(row, Source<A>(warp, instr, row_of_argument<A...>(i))...);
  } else {
    map_by_copy<Op>(row, Source<A>(warp, instr, row_of_argument<A...>(i))...);
  }
}

template <class R, class... A>
std::make_integer_sequence<int, sizeof...(A)> argument_indices(R (*)(A...)) {
  return {};
}

// Not inlined into its callers below: there are many of these loops, and each costs compile time.
template <class Op>
HWY_NOINLINE void lanes(Warp& warp, const Instr& instr) {
  map<Op>(warp, instr, &Op::run, decltype(argument_indices(&Op::run)){});
}

template <class Op, int rounding>
void rounded_lanes(Warp& warp, const Instr& instr) {
  const RoundingScope scope(rounding);
  lanes<Op>(warp, instr);
}

/// Runs `full`, then restores the destination words of inactive lanes.
template <class Word>
HWY_NOINLINE void run_masked(Warp& warp, const Instr& instr, Handler full) {
  Word* const row = std::assume_aligned<64>(warp.row<Word>(instr.row[0]));
  alignas(64) Word before[warp_size];
  RUNG_LANES
  for (int lane = 0; lane < warp_size; ++lane) before[lane] = row[lane];
  full(warp, instr);
  const Mask mask = warp.mask;
  RUNG_LANES
  for (int lane = 0; lane < warp_size; ++lane) {
    row[lane] = select({lane_mask<Word>(mask, lane)}, row[lane], before[lane]);
  }
}

template <class Word, Handler full>
void masked(Warp& warp, const Instr& instr) {
  run_masked<Word>(warp, instr, full);
}

template <class Op>
using ResultWord = WordOf<sizeof(typename SignatureOf<Op>::Result)>;

template <class Op>
OpSpec vector_spec() {
  return make_spec(lanes<Op>, masked<ResultWord<Op>, lanes<Op>>, SignatureOf<Op>::operands);
}

template <class Op, int rounding>
OpSpec rounded_spec() {
  constexpr Handler full = rounded_lanes<Op, rounding>;
  return make_spec(full, masked<ResultWord<Op>, full>, SignatureOf<Op>::operands);
}

}  // namespace rung::vgpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
