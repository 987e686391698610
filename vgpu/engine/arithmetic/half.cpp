// f16, bf16 and packed pairs of them: add, sub, mul, fma, neg, abs, min, max in SIMD code (PTX ISA,
// 9.7.4).

#include "vgpu/engine/arithmetic/operations.hpp"
#include "vgpu/engine/numbers/float16.hpp"

#define RUNG_LANES_WITHOUT_AVX3
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "vgpu/engine/arithmetic/half.cpp"
#include "vgpu/engine/lanes/targets.hpp"
// Include after targets.hpp.
#include "vgpu/engine/lanes/lanes-inl.hpp"

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
// A row of 32 packed pairs is processed as 64 numbers.
template <class Op, class R, class... S>
HWY_NOINLINE void map_numbers(int count, R* row, const S*... source) {
  for (int first = 0; first < count; first += warp_size) {
    RUNG_LANES
    for (int i = first; i < first + warp_size; ++i) row[i] = Op::run(source[i]...);
  }
}

template <class Op, int per_lane, class R, class... S, int... i>
void map_rows(Warp& warp, const Instr& instr, R (*)(S...), std::integer_sequence<int, i...>) {
  map_numbers<Op, R, S...>(per_lane * warp_size, warp.row<R>(instr.row[0]),
                           warp.row<const S>(instr.row[row_of_argument<S...>(i)])...);
}

template <class Op, int per_lane>
void numbers(Warp& warp, const Instr& instr) {
  map_rows<Op, per_lane>(warp, instr, &Op::run, decltype(argument_indices(&Op::run)){});
}

/// Adds the operation for single numbers and for packed pairs.
template <class F, class Op>
void add_half(OpTable& table, const std::string& start) {
  OpSpec spec =
      make_spec(numbers<Op, 1>, masked<std::uint16_t, numbers<Op, 1>>, SignatureOf<Op>::operands);
  table.add({start, ".", half_name<F>}, spec);
  const std::vector<ptx::Type> types(spec.operands.size(), half_pair_type<F>);
  table.add({start, ".", half_name<F>, "x2"},
            {numbers<Op, 2>, masked<std::uint32_t, numbers<Op, 2>>, types});
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
