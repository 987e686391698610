// set and setp of f16, bf16 and pairs of them (PTX ISA, 9.7.7).

#include "vgpu/engine/arithmetic/operations.hpp"
#include "vgpu/engine/numbers/float16.hpp"

#define RUNG_LANES_WITHOUT_AVX3
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "vgpu/engine/compare/compare_half.cpp"
#include "vgpu/engine/lanes/targets.hpp"
// Include after targets.hpp.
#include "vgpu/engine/compare/compare-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::vgpu::HWY_NAMESPACE {

// Numbers converted to f32, so that the relations are compiled for one type only.
struct alignas(64) Numbers {
  float lane[warp_size];
};

/// The numbers of a row. For pairs (stride 2), the lower or the upper halves.
template <class F, bool ftz, int stride>
HWY_NOINLINE Numbers numbers(const typename F::Lane* row) {
  Numbers result;
  for (int lane = 0; lane < warp_size; ++lane) {
    result.lane[lane] = half_input<F, ftz>(row[stride * lane]);
  }
  return result;
}

template <class Relation>
HWY_NOINLINE Mask related(const Numbers& a, const Numbers& b) {
  Mask bits = 0;
  for (int lane = 0; lane < warp_size; ++lane) {
    bits |= Relation::holds(a.lane[lane], b.lane[lane]) ? lane_bits<Mask>.bit[lane] : Mask{0};
  }
  return bits;
}

/// A relation and its opposite share a loop.
template <class Relation>
struct Related {
  static Mask of(const Numbers& a, const Numbers& b) { return related<Relation>(a, b); }
};
template <class Relation>
struct Related<Not<Relation>> {
  static Mask of(const Numbers& a, const Numbers& b) { return ~related<Relation>(a, b); }
};

template <class F, class Relation, bool ftz>
void compare_halves(Warp& warp, const Instr& instr) {
  const Combination combination(instr.imm);
  const auto source = [&](int i) {
    const auto row = instr.row[static_cast<std::size_t>(combination.sources() + i)];
    return numbers<F, ftz, 1>(warp.row<const typename F::Lane>(row));
  };
  combination.write(warp, instr, Related<Relation>::of(source(0), source(1)));
}

// setp.f16x2 p|q: p compares the lower halves, q the upper ones.
template <class F, class Relation, bool ftz>
void compare_pairs(Warp& warp, const Instr& instr) {
  const Combination combination(instr.imm);
  const auto* const a = warp.row<const typename F::Lane>(instr.row[2]);
  const auto* const b = warp.row<const typename F::Lane>(instr.row[3]);
  const Mask low = Related<Relation>::of(numbers<F, ftz, 2>(a), numbers<F, ftz, 2>(b));
  const Mask high = Related<Relation>::of(numbers<F, ftz, 2>(a + 1), numbers<F, ftz, 2>(b + 1));
  const Mask c = combination.used ? warp.predicate(instr.row[4]) : 0;
  Combination::write_predicate(warp, instr.row[0], combination.apply(low, c));
  Combination::write_predicate(warp, instr.row[1], combination.apply(high, c));
}

template <ptx::Type type>
std::vector<ptx::Type> operands_of_type() {
  return {ptx::Type::pred, type, type};
}

/// Adds comparisons of single numbers and of pairs, with every relation.
template <class F, bool ftz>
struct Comparisons {
  template <class Relation>
  static void add(OpTable& table, const std::string& start) {
    const std::string rest = start + (ftz ? ".ftz." : ".") + half_name<F>;
    constexpr Handler halves = compare_halves<F, Relation, ftz>;
    constexpr Handler pairs = compare_pairs<F, Relation, ftz>;
    const OpSpec spec = make_spec(halves, halves, operands_of_type<ptx_type<typename F::Lane>()>);
    table.add({"setp.", rest}, spec);
    table.add({"set.", rest}, spec);
    table.add({"setp.", rest, "x2"}, make_spec(pairs, pairs, operands_of_type<half_pair_type<F>>));
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
