// set and setp of f16, bf16 and pairs of them (PTX ISA, 9.7.7).

#include "vgpu/engine/float16.hpp"
#include "vgpu/engine/operations.hpp"

#define RUNG_LANES_WITHOUT_AVX3
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "vgpu/engine/compare_half.cpp"
#include "vgpu/engine/targets.hpp"
// After targets.hpp.
#include "vgpu/engine/compare-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::vgpu::HWY_NAMESPACE {

template <class F, class Relation, bool ftz>
struct CompareHalf {
  using Lane = typename F::Lane;
  static bool run(Lane a, Lane b) {
    return Relation::holds(half_input<F, ftz>(a), half_input<F, ftz>(b));
  }
};

// setp.f16x2 p|q: p from the lower halves, q from the upper ones.
template <class Op>
void set_pair_predicates(Warp& warp, const Instr& instr) {
  using Lane = typename Op::Lane;
  const Combination combination(instr.imm);
  const Lane* const a = warp.row<Lane>(instr.row[2]);
  const Lane* const b = warp.row<Lane>(instr.row[3]);
  Mask low = 0, high = 0;
  for (int lane = 0; lane < warp_size; ++lane) {
    low |= static_cast<Mask>(Op::run(a[2 * lane], b[2 * lane])) << lane;
    high |= static_cast<Mask>(Op::run(a[2 * lane + 1], b[2 * lane + 1])) << lane;
  }
  const Mask c = combination.used ? warp.predicate(instr.row[4]) : 0;
  Combination::write_predicate(warp, instr.row[0], combination.apply(low, c));
  Combination::write_predicate(warp, instr.row[1], combination.apply(high, c));
}

/// Comparisons of one number by any relation, and of pairs.
template <class F, bool ftz>
struct Comparisons {
  template <class Relation>
  static void add(OpTable& table, const std::string& start) {
    using Op = CompareHalf<F, Relation, ftz>;
    const std::string rest = start + (ftz ? ".ftz." : ".") + half_name<F>;
    add_comparison<Op>(table, rest);
    table.add({"setp.", rest, "x2"}, {set_pair_predicates<Op>,
                                      set_pair_predicates<Op>,
                                      {ptx::Type::pred, half_pair_type<F>, half_pair_type<F>}});
  }
};

void fill_half_comparisons(OpTable& table) {
  add_relations<Comparisons<F16, false>>(table);
  add_relations<Comparisons<F16, true>>(table);
  add_relations<Comparisons<BF16, false>>(table);
}

}  // namespace rung::vgpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rung::vgpu {

void add_half_comparisons(OpTable& table) { RUNG_PICK_LANES(fill_half_comparisons)(table); }

}  // namespace rung::vgpu
#endif  // HWY_ONCE
