// setp and set: compares 32 lanes into one bit each and combines the result with another predicate.
// Included like engine/lanes/lanes-inl.hpp.

#if defined(RUNG_VGPU_ENGINE_COMPARE_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef RUNG_VGPU_ENGINE_COMPARE_INL_HPP
#else
#define RUNG_VGPU_ENGINE_COMPARE_INL_HPP
#endif

#include "vgpu/engine/compare/compare.hpp"
#include "vgpu/engine/lanes/lanes-inl.hpp"
#include "vgpu/engine/numbers/relations.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::vgpu::HWY_NAMESPACE {

/// Runs Op::run(T, T) for every lane. The bits are collected in words as wide as T, so that the
/// loop becomes a SIMD comparison, an AND with a constant and an OR.
template <class Op, class T>
HWY_NOINLINE Mask compare_lanes(bool (*)(T, T), Warp& warp, const Instr& instr, int row) {
  using Word = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  const Source<T> a(warp, instr, row), b(warp, instr, row + 1);
  Word bits = 0;
  for (int lane = 0; lane < warp_size; ++lane) {
    bits |= Op::run(a[lane], b[lane]) ? lane_bits<Word>.bit[lane] : Word{0};
  }
  return static_cast<Mask>(bits);
}

/// The comparison whose result is the opposite of the Op's; the Op itself if it is no Not<…>. A relation and
/// its opposite share a loop, because each loop costs compile time.
template <class Op>
struct Opposite {
  using Loop = Op;
  static constexpr Mask flips = 0;
};
template <template <class, class, bool> class Op, class T, class Relation, bool ftz>
struct Opposite<Op<T, Not<Relation>, ftz>> {
  using Loop = Op<T, Relation, ftz>;
  static constexpr Mask flips = ~Mask{0};
};

/// setp and set. Rows: d, [q], a, b, [c].
template <class Op>
void compare(Warp& warp, const Instr& instr) {
  using Loop = typename Opposite<Op>::Loop;
  const Combination combination(instr.imm);
  const Mask holds = compare_lanes<Loop>(&Loop::run, warp, instr, combination.sources());
  combination.write(warp, instr, holds ^ Opposite<Op>::flips);
}

/// T is the type of the operands.
template <class Op, class T>
void add_comparison(OpTable& table, const std::string& rest) {
  const OpSpec spec = make_spec(compare<Op>, compare<Op>, operands_of_comparison<T>);
  table.add({"setp.", rest}, spec);
  table.add({"set.", rest}, spec);
}

/// Adds a type's comparisons with every floating-point relation, by Add::add<Relation>(table, "lt")
/// and so on.
template <class Add>
void add_relations(OpTable& table) {
  Add::template add<Equal>(table, "eq");
  Add::template add<OrderedNotEqual>(table, "ne");
  Add::template add<Less>(table, "lt");
  Add::template add<LessEqual>(table, "le");
  Add::template add<Greater>(table, "gt");
  Add::template add<GreaterEqual>(table, "ge");
  Add::template add<Not<OrderedNotEqual>>(table, "equ");
  Add::template add<Not<Equal>>(table, "neu");
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
