// Rare instructions of f32 and f64: three-input min and max, .xorsign.abs, div.full, copysign,
// testp, and sums of f16 or bf16 with f32 (PTX ISA, 9.7.3 and 9.7.5).

#include <cfenv>

#include "vgpu/engine/arithmetic/operations.hpp"
#include "vgpu/engine/lanes/per_lane.hpp"
#include "vgpu/engine/numbers/float16.hpp"
#include "vgpu/engine/numbers/rounding.hpp"
#include "vgpu/engine/warp/warp_members.hpp"

namespace rung::vgpu {

namespace {

template <bool smaller, bool nan, bool ftz>
struct XorSign {
  static float run(float a, float b) {
    const float x = flushed<ftz>(a), y = flushed<ftz>(b);
    const float result = extreme<smaller, nan>(magnitude(x), magnitude(y));
    const std::uint32_t sign = (bits_of(x) ^ bits_of(y)) & sign_bit<float>;
    return result != result ? result : std::bit_cast<float>(bits_of(result) | sign);
  }
};

template <bool smaller, bool nan, bool ftz, bool abs>
struct OfThree {
  static float run(float a, float b, float c) {
    return extreme<smaller, nan>(extreme<smaller, nan>(input(a), input(b)), input(c));
  }
  static float input(float x) { return abs ? magnitude(flushed<ftz>(x)) : flushed<ftz>(x); }
};

// copysign: the sign of a and the magnitude of b.
template <class T>
struct CopySign {
  static T run(T a, T b) {
    return std::bit_cast<T>((bits_of(a) & sign_bit<T>) | (bits_of(b) & ~sign_bit<T>));
  }
};

template <bool ftz>
struct FullDivision {
  static float run(float a, float b) {
    return finished<ftz, false>(flushed<ftz>(a) / flushed<ftz>(b));
  }
};

struct IsFinite {
  static bool of(int kind) { return kind != FP_NAN && kind != FP_INFINITE; }
};
struct IsInfinite {
  static bool of(int kind) { return kind == FP_INFINITE; }
};
struct IsNumber {
  static bool of(int kind) { return kind != FP_NAN; }
};
struct IsNan {
  static bool of(int kind) { return kind == FP_NAN; }
};
struct IsNormal {  // PTX counts zero as normal
  static bool of(int kind) { return kind == FP_NORMAL || kind == FP_ZERO; }
};
struct IsSubnormal {
  static bool of(int kind) { return kind == FP_SUBNORMAL; }
};

template <class Property, class T>
void test_property(Warp& warp, const Instr& instr) {
  const T* const a = warp.row<T>(instr.row[1]);
  for (Mask rest = warp.mask; rest != 0; rest &= rest - 1) {
    const int lane = first_lane(rest);
    set_bit(warp.predicate(instr.row[0]), lane, Property::of(std::fpclassify(a[lane])));
  }
}

template <class Property, class T>
OpSpec property_spec() {
  return {test_property<Property, T>, test_property<Property, T>, {ptx::Type::pred, ptx_type<T>()}};
}

template <class Property>
void add_property(OpTable& table, const std::string& name) {
  table.add({"testp.", name, ".f32"}, property_spec<Property, float>());
  table.add({"testp.", name, ".f64"}, property_spec<Property, double>());
}

template <class F>
struct MixedAdd {
  static float run(typename F::Lane a, float c) { return F::number(a) + c; }
};
template <class F>
struct MixedSub {
  static float run(typename F::Lane a, float c) { return F::number(a) - c; }
};
template <class F>
struct MixedFma {
  static float run(typename F::Lane a, typename F::Lane b, float c) {
    return std::fma(F::number(a), F::number(b), c);
  }
};
template <class Op, bool sat, class... A>
struct FinishedOf;
template <class Op, bool sat, class R, class... A>
struct FinishedOf<Op, sat, R (*)(A...)> {
  static float run(A... a) { return finished<false, sat>(Op::run(a...)); }
};
template <class Op, bool sat>
using Finished = FinishedOf<Op, sat, decltype(&Op::run)>;

template <class Op, int mode>
void rounded_each_lane(Warp& warp, const Instr& instr) {
  const RoundingScope scope(mode);
  each_lane<Op>(warp, instr);
}

template <class Op, int mode>
OpSpec rounded_lane_spec() {
  return {rounded_each_lane<Op, mode>, rounded_each_lane<Op, mode>, SignatureOf<Op>::operands()};
}

template <class Op, bool sat>
void add_mixed_modes(OpTable& table, const std::string& opcode, const std::string& rest) {
  using Whole = Finished<Op, sat>;
  table.add({opcode, ".rn", rest}, lane_spec<Whole>());
  table.add({opcode, ".rz", rest}, rounded_lane_spec<Whole, FE_TOWARDZERO>());
  table.add({opcode, ".rm", rest}, rounded_lane_spec<Whole, FE_DOWNWARD>());
  table.add({opcode, ".rp", rest}, rounded_lane_spec<Whole, FE_UPWARD>());
  if (opcode != "fma") table.add({opcode, rest}, lane_spec<Whole>());
}

template <class F>
void add_mixed(OpTable& table, const std::string& type) {
  add_mixed_modes<MixedAdd<F>, false>(table, "add", ".f32." + type);
  add_mixed_modes<MixedAdd<F>, true>(table, "add", ".sat.f32." + type);
  add_mixed_modes<MixedSub<F>, false>(table, "sub", ".f32." + type);
  add_mixed_modes<MixedSub<F>, true>(table, "sub", ".sat.f32." + type);
  add_mixed_modes<MixedFma<F>, false>(table, "fma", ".f32." + type);
  add_mixed_modes<MixedFma<F>, true>(table, "fma", ".sat.f32." + type);
}

template <bool smaller, bool nan, bool ftz>
void add_extremes_of(OpTable& table, const std::string& start) {
  table.add({start, ".xorsign.abs.f32"}, lane_spec<XorSign<smaller, nan, ftz>>());
  table.add({start, ".f32 of 3"}, lane_spec<OfThree<smaller, nan, ftz, false>>());
  table.add({start, ".abs.f32 of 3"}, lane_spec<OfThree<smaller, nan, ftz, true>>());
}

template <bool smaller>
void add_extremes(OpTable& table, const std::string& opcode) {
  add_extremes_of<smaller, false, false>(table, opcode);
  add_extremes_of<smaller, true, false>(table, opcode + ".NaN");
  add_extremes_of<smaller, false, true>(table, opcode + ".ftz");
  add_extremes_of<smaller, true, true>(table, opcode + ".ftz.NaN");
}

}  // namespace

void add_rare_float_arithmetic(OpTable& table) {
  add_extremes<true>(table, "min");
  add_extremes<false>(table, "max");
  table.add({"copysign.f32"}, lane_spec<CopySign<float>>());
  table.add({"copysign.f64"}, lane_spec<CopySign<double>>());
  table.add({"div.full.f32"}, lane_spec<FullDivision<false>>());
  table.add({"div.full.ftz.f32"}, lane_spec<FullDivision<true>>());
  add_property<IsFinite>(table, "finite");
  add_property<IsInfinite>(table, "infinite");
  add_property<IsNumber>(table, "number");
  add_property<IsNan>(table, "notanumber");
  add_property<IsNormal>(table, "normal");
  add_property<IsSubnormal>(table, "subnormal");
  add_mixed<F16>(table, "f16");
  add_mixed<BF16>(table, "bf16");
}

}  // namespace rung::vgpu
