// f16, bf16 and pairs of them: add, sub, mul, fma, neg, abs, min, max in vector code (PTX ISA,
// 9.7.4).

#include "vgpu/engine/float16.hpp"
#include "vgpu/engine/operations.hpp"

#define RUNG_LANES_WITHOUT_AVX3
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "vgpu/engine/arithmetic_half.cpp"
#include "vgpu/engine/targets.hpp"
// After targets.hpp.
#include "vgpu/engine/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::vgpu::HWY_NAMESPACE {

enum class Clamp { none, sat, relu };

template <class F, bool ftz, Clamp clamp>
typename F::Lane output(float x) {
  if constexpr (clamp == Clamp::sat) x = saturated(x);
  if constexpr (clamp == Clamp::relu) x = x <= 0.0f ? 0.0f : x;
  const typename F::Lane rounded = F::nearest(x);
  if constexpr (ftz) return F::flushed(rounded);
  return rounded;
}

template <class F, bool ftz, Clamp clamp>
struct AddHalf {
  using Lane = typename F::Lane;
  static Lane run(Lane a, Lane b) {
    return output<F, ftz, clamp>(half_input<F, ftz>(a) + half_input<F, ftz>(b));
  }
};
template <class F, bool ftz, Clamp clamp>
struct SubHalf {
  using Lane = typename F::Lane;
  static Lane run(Lane a, Lane b) {
    return output<F, ftz, clamp>(half_input<F, ftz>(a) - half_input<F, ftz>(b));
  }
};
template <class F, bool ftz, Clamp clamp>
struct MulHalf {
  using Lane = typename F::Lane;
  static Lane run(Lane a, Lane b) {
    return output<F, ftz, clamp>(half_input<F, ftz>(a) * half_input<F, ftz>(b));
  }
};
template <class F, bool ftz, Clamp clamp>
struct FmaHalf {
  using Lane = typename F::Lane;
  static Lane run(Lane a, Lane b, Lane c) {
    return output<F, ftz, clamp>(
        F::fma(half_input<F, ftz>(a), half_input<F, ftz>(b), half_input<F, ftz>(c)));
  }
};
template <class F>
typename F::Lane without_payload(typename F::Lane a) {
  return {static_cast<std::uint16_t>((a.bits & 0x7FFF) > F::infinity ? F::nan : a.bits)};
}
template <class F, bool ftz>
struct NegHalf {
  using Lane = typename F::Lane;
  static Lane run(Lane a) {
    if constexpr (ftz) a = F::flushed(a);
    return without_payload<F>({static_cast<std::uint16_t>(a.bits ^ 0x8000)});
  }
};
template <class F, bool ftz>
struct AbsHalf {
  using Lane = typename F::Lane;
  static Lane run(Lane a) {
    if constexpr (ftz) a = F::flushed(a);
    return without_payload<F>({static_cast<std::uint16_t>(a.bits & 0x7FFF)});
  }
};
template <class F, bool ftz, bool smaller, bool nan, bool xorsign>
struct ExtremeHalf {
  using Lane = typename F::Lane;
  static Lane run(Lane a, Lane b) {
    const float x = half_input<F, ftz>(a), y = half_input<F, ftz>(b);
    if constexpr (!xorsign) return F::nearest(extreme<smaller, nan>(x, y));
    const Lane result = F::nearest(extreme<smaller, nan>(magnitude(x), magnitude(y)));
    const int sign = (result.bits & 0x7FFF) == F::nan ? 0 : (a.bits ^ b.bits) & 0x8000;
    return {static_cast<std::uint16_t>(result.bits | sign)};
  }
};
// Rows of pairs are rows of 64 numbers.
template <class Op, class R, class... S>
HWY_INLINE void map_pairs(Warp& warp, std::uint32_t row, R (*)(S...), const S*... source) {
  alignas(64) R results[2 * warp_size];
  for (int i = 0; i < 2 * warp_size; ++i) results[i] = Op::run(source[i]...);
  std::uint32_t* const d = std::assume_aligned<64>(warp.row<std::uint32_t>(row));
  RUNG_LANES
  for (int lane = 0; lane < warp_size; ++lane) {
    d[lane] = std::uint32_t{results[2 * lane + 1].bits} << 16 | results[2 * lane].bits;
  }
}

template <class Op>
void pairs(Warp& warp, const Instr& instr) {
  using Lane = typename Op::Lane;
  const auto source = [&](std::size_t i) {
    return std::assume_aligned<64>(warp.row<const Lane>(instr.row[i]));
  };
  if constexpr (std::is_invocable_v<decltype(&Op::run), Lane>) {
    map_pairs<Op, Lane, Lane>(warp, instr.row[0], &Op::run, source(1));
  } else if constexpr (std::is_invocable_v<decltype(&Op::run), Lane, Lane>) {
    map_pairs<Op, Lane, Lane, Lane>(warp, instr.row[0], &Op::run, source(1), source(2));
  } else {
    map_pairs<Op, Lane, Lane, Lane, Lane>(warp, instr.row[0], &Op::run, source(1), source(2),
                                          source(3));
  }
}

/// The operation on one number and on pairs.
template <class F, class Op>
void add_half(OpTable& table, const std::string& start) {
  OpSpec spec = vector_spec<Op>();
  table.add({start, ".", half_name<F>}, spec);
  const std::vector<ptx::Type> types(spec.operands.size(), half_pair_type<F>);
  table.add({start, ".", half_name<F>, "x2"}, {pairs<Op>, masked<std::uint32_t, pairs<Op>>, types});
}

template <template <class, bool, Clamp> class Op>
void add_f16(OpTable& table, const std::string& start) {
  add_half<F16, Op<F16, false, Clamp::none>>(table, start);
  add_half<F16, Op<F16, true, Clamp::none>>(table, start + ".ftz");
  add_half<F16, Op<F16, false, Clamp::sat>>(table, start + ".sat");
  add_half<F16, Op<F16, true, Clamp::sat>>(table, start + ".ftz.sat");
}

template <template <class, bool, Clamp> class Op>
void add_sums(OpTable& table, const std::string& opcode) {
  for (const std::string mode : {"", ".rn"}) {
    add_f16<Op>(table, opcode + mode);
    add_half<BF16, Op<BF16, false, Clamp::none>>(table, opcode + mode);
  }
}

template <class F, bool ftz, bool smaller>
void add_extremes_of(OpTable& table, const std::string& start) {
  add_half<F, ExtremeHalf<F, ftz, smaller, false, false>>(table, start);
  add_half<F, ExtremeHalf<F, ftz, smaller, true, false>>(table, start + ".NaN");
  add_half<F, ExtremeHalf<F, ftz, smaller, false, true>>(table, start + ".xorsign.abs");
  add_half<F, ExtremeHalf<F, ftz, smaller, true, true>>(table, start + ".NaN.xorsign.abs");
}

template <bool smaller>
void add_extremes(OpTable& table, const std::string& opcode) {
  add_extremes_of<F16, false, smaller>(table, opcode);
  add_extremes_of<F16, true, smaller>(table, opcode + ".ftz");
  add_extremes_of<BF16, false, smaller>(table, opcode);
}

template <class F, bool ftz>
void add_signs(OpTable& table, const std::string& ftz_name) {
  add_half<F, NegHalf<F, ftz>>(table, "neg" + ftz_name);
  add_half<F, AbsHalf<F, ftz>>(table, "abs" + ftz_name);
}

void fill_half_arithmetic(OpTable& table) {
  add_sums<AddHalf>(table, "add");
  add_sums<SubHalf>(table, "sub");
  add_sums<MulHalf>(table, "mul");
  add_f16<FmaHalf>(table, "fma.rn");
  add_half<F16, FmaHalf<F16, false, Clamp::relu>>(table, "fma.rn.relu");
  add_half<F16, FmaHalf<F16, true, Clamp::relu>>(table, "fma.rn.ftz.relu");
  add_half<BF16, FmaHalf<BF16, false, Clamp::none>>(table, "fma.rn");
  add_half<BF16, FmaHalf<BF16, false, Clamp::relu>>(table, "fma.rn.relu");
  add_extremes<true>(table, "min");
  add_extremes<false>(table, "max");
  add_signs<F16, false>(table, "");
  add_signs<F16, true>(table, ".ftz");
  add_signs<BF16, false>(table, "");
}

}  // namespace rung::vgpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rung::vgpu {

void add_half_arithmetic(OpTable& table) { RUNG_PICK_LANES(fill_half_arithmetic)(table); }

}  // namespace rung::vgpu
#endif  // HWY_ONCE
