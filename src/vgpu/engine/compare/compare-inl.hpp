// setp and set: a comparison of 32 lanes to one bit each, combined with another predicate. Included
// like engine/lanes/lanes-inl.hpp.

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

/// Op::run(T, T) for every lane. The bits are collected in words as wide as T, so that the loop is
/// a SIMD comparison, an AND with a constant and an OR.
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

/// setp and set: rows d, [q], a, b, [c].
template <class Op>
void compare(Warp& warp, const Instr& instr) {
  const Combination combination(instr.imm);
  combination.write(warp, instr, compare_lanes<Op>(&Op::run, warp, instr, combination.sources()));
}

template <class Op>
void add_comparison(OpTable& table, const std::string& rest) {
  const OpSpec spec{compare<Op>, compare<Op>, operands_of_comparison(&Op::run)};
  table.add({"setp.", rest}, spec);
  table.add({"set.", rest}, spec);
}

/// Adds a type's comparisons with every floating-point relation: Add::add<Relation>(table, "lt").
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
