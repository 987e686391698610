// setp and set: a comparison of 32 lanes, as a bit for each, combined with another predicate.
// Included as engine/lanes-inl.hpp is.

#if defined(RUNG_VGPU_ENGINE_COMPARE_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef RUNG_VGPU_ENGINE_COMPARE_INL_HPP
#else
#define RUNG_VGPU_ENGINE_COMPARE_INL_HPP
#endif

#include "vgpu/engine/compare.hpp"
#include "vgpu/engine/lanes-inl.hpp"
#include "vgpu/engine/relations.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::vgpu::HWY_NAMESPACE {

/// Op::run(T, T) for every lane. The bits are gathered in words as wide as T: so the loop is a
/// vector comparison, a constant and an OR.
template <class Op, class T>
HWY_INLINE Mask compare_lanes(bool (*)(T, T), Warp& warp, const Instr& instr, int row) {
  using Word = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  const Source<T> a(warp, instr, row), b(warp, instr, row + 1);
  Word bits = 0;
  for (int lane = 0; lane < warp_size; ++lane) {
    bits |= Op::run(a[lane], b[lane]) ? lane_bits<Word>.bit[lane] : Word{0};
  }
  return static_cast<Mask>(bits);
}

/// setp: rows p, [q], a, b, [c].
template <class Op, bool masked>
void set_predicates(Warp& warp, const Instr& instr) {
  const Combination combination(instr.imm);
  const int sources = combination.pair ? 2 : 1;
  const Mask holds = compare_lanes<Op>(&Op::run, warp, instr, sources);
  const Mask c = combination.used ? warp.predicate(instr.row[sources + 2]) : 0;
  Mask& p = warp.predicate(instr.row[0]);
  const Mask first = combination.apply(holds, c), second = combination.apply(~holds, c);
  p = masked ? blend(warp.mask, first, p) : first;
  if (combination.pair) {
    Mask& q = warp.predicate(instr.row[1]);
    q = masked ? blend(warp.mask, second, q) : second;
  }
}

/// set: rows d, a, b, [c]. Only active lanes are written.
template <class Op>
void set_values(Warp& warp, const Instr& instr) {
  const Combination combination(instr.imm);
  const Mask holds = compare_lanes<Op>(&Op::run, warp, instr, 1);
  const Mask c = combination.used ? warp.predicate(instr.row[3]) : 0;
  combination.store(warp, instr.row[0], combination.apply(holds, c));
}

template <class Op>
void add_comparison(OpTable& table, const std::string& rest) {
  OpSpec setp{set_predicates<Op, false>, set_predicates<Op, true>,
              operands_of_comparison(&Op::run)};
  table.add("setp." + rest, setp);
  table.add("set." + rest, {set_values<Op>, set_values<Op>, setp.operands});
}

/// Adds a type's comparisons by every relation of floating point: Add::add<Relation>(table, "lt").
template <class Add>
void add_relations(OpTable& table) {
  Add::template add<Equal>(table, "eq");
  Add::template add<OrderedNotEqual>(table, "ne");
  Add::template add<Less>(table, "lt");
  Add::template add<LessEqual>(table, "le");
  Add::template add<Greater>(table, "gt");
  Add::template add<GreaterEqual>(table, "ge");
  Add::template add<Not<OrderedNotEqual>>(table, "equ");
  Add::template add<NotEqual>(table, "neu");
  Add::template add<Not<GreaterEqual>>(table, "ltu");
  Add::template add<Not<Greater>>(table, "leu");
  Add::template add<Not<LessEqual>>(table, "gtu");
  Add::template add<Not<Less>>(table, "geu");
  Add::template add<Ordered>(table, "num");
  Add::template add<Not<Ordered>>(table, "nan");
}

}  // namespace rung::vgpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
