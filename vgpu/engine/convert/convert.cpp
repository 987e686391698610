// cvt between integers, f32 and f64, in SIMD code (PTX ISA, 9.7.9).

#include "vgpu/engine/arithmetic/operations.hpp"
#include "vgpu/engine/lanes/per_lane.hpp"
#include "vgpu/engine/numbers/conversions.hpp"
#include "vgpu/engine/numbers/small_floats.hpp"

#define RUNG_LANES_WITHOUT_AVX3
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "vgpu/engine/convert/convert.cpp"
#include "vgpu/engine/lanes/targets.hpp"
// Include after targets.hpp.
#include "vgpu/engine/lanes/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::vgpu::HWY_NAMESPACE {

// Integer to integer: truncates, or extends according to the signedness of the source.
template <class D, class S>
struct Resize {
  static D run(S a) {
    return LaneOf<D>::from(static_cast<typename LaneOf<D>::Number>(value_of(a)));
  }
};

// Integer to float, rounded to nearest even.
template <class D, class S>
struct ToFloat {
  static D run(S a) { return static_cast<D>(value_of(a)); }
};

// Float to f32. A NaN keeps the part of its payload that fits, except with .ftz from f32 to f32.
template <class S, bool ftz, bool sat>
struct ToSingle {
  static float run(S a) {
    const float single = flushed<ftz>(static_cast<float>(a));
    if constexpr (sat) return saturated(single);
    return ftz && sizeof(S) == 4 ? canonical(single) : single;
  }
};
template <bool ftz>
struct ToDouble {
  static double run(float a) { return static_cast<double>(ftz ? canonical(flushed<ftz>(a)) : a); }
};

template <class D, class S, ToInteger rounding, bool ftz>
struct FromFloat {
  static D run(S a) { return to_integer<D>(integral<rounding>(flushed<ftz>(a))); }
};

template <class T, ToInteger rounding, bool ftz, bool sat>
struct Integral {
  static T run(T a) { return finished<ftz, sat>(integral<rounding>(flushed<ftz>(a)), a); }
};

/// The unsigned type with the same bits.
template <class T>
struct UnsignedOf {
  using Type = std::make_unsigned_t<T>;
};
template <>
struct UnsignedOf<U8> {
  using Type = U8;
};
template <>
struct UnsignedOf<S8> {
  using Type = U8;
};

/// The handlers of Resize<D, S>, or of unsigned types where the results have the same bits: each of these loops
/// costs compile time. Lanes of 8 bits are extended in their row, so that the sign of D matters.
template <class D, class S>
OpSpec resize_spec() {
  using From = typename LaneOf<S>::Number;
  using To = typename LaneOf<D>::Number;
  using Destination = std::conditional_t<sizeof(To) == 1, D, typename UnsignedOf<D>::Type>;
  using Source = std::conditional_t<sizeof(From) >= sizeof(To), typename UnsignedOf<S>::Type, S>;
  using Op = Resize<Destination, Source>;
  return make_spec(lanes<Op>, masked<ResultWord<Op>, lanes<Op>>,
                   SignatureOf<Resize<D, S>>::operands);
}

template <class D>
void add_resizes(OpTable& table, const std::string& to) {
  table.add({"cvt.", to, ".u8"}, resize_spec<D, U8>());
  table.add({"cvt.", to, ".s8"}, resize_spec<D, S8>());
  table.add({"cvt.", to, ".u16"}, resize_spec<D, std::uint16_t>());
  table.add({"cvt.", to, ".s16"}, resize_spec<D, std::int16_t>());
  table.add({"cvt.", to, ".u32"}, resize_spec<D, std::uint32_t>());
  table.add({"cvt.", to, ".s32"}, resize_spec<D, std::int32_t>());
  table.add({"cvt.", to, ".u64"}, resize_spec<D, std::uint64_t>());
  table.add({"cvt.", to, ".s64"}, resize_spec<D, std::int64_t>());
}

template <class Op>
void add_modes(OpTable& table, const std::string& rest) {
  table.add({"cvt.rn", rest}, vector_spec<Op>());
  table.add({"cvt.rz", rest}, rounded_spec<Op, FE_TOWARDZERO>());
  table.add({"cvt.rm", rest}, rounded_spec<Op, FE_DOWNWARD>());
  table.add({"cvt.rp", rest}, rounded_spec<Op, FE_UPWARD>());
}

/// Adds .rn, and the other rounding modes if D can represent every value of S.
template <class D, class S>
void add_to_float_of(OpTable& table, const std::string& rest) {
  using Number = typename LaneOf<S>::Number;
  const OpSpec spec = vector_spec<ToFloat<D, S>>();
  table.add({"cvt.rn", rest}, spec);
  if constexpr (std::numeric_limits<Number>::digits <= std::numeric_limits<D>::digits) {
    for (const std::string mode : {".rz", ".rm", ".rp"}) table.add({"cvt", mode, rest}, spec);
  }
}

template <class S>
void add_to_float(OpTable& table, const std::string& from) {
  add_to_float_of<float, S>(table, ".f32." + from);
  add_to_float_of<float, S>(table, ".ftz.f32." + from);  // no effect: no result is subnormal
  add_to_float_of<double, S>(table, ".f64." + from);
}

// .sat has no effect, because the result is always in range.
template <class D, ToInteger rounding>
void add_from_float(OpTable& table, const std::string& mode, const std::string& to) {
  // Otherwise a subnormal number becomes 0 with and without .ftz.
  constexpr bool flushes = rounding == ToInteger::down || rounding == ToInteger::up;
  for (const std::string sat : {"", ".sat"}) {
    table.add({mode, sat, to, ".f32"}, vector_spec<FromFloat<D, float, rounding, false>>());
    table.add({mode, ".ftz", sat, to, ".f32"},
              vector_spec<FromFloat<D, float, rounding, flushes>>());
    table.add({mode, sat, to, ".f64"}, vector_spec<FromFloat<D, double, rounding, false>>());
  }
}

template <ToInteger rounding>
void add_integral(OpTable& table, const std::string& mode) {
  add_from_float<std::uint32_t, rounding>(table, mode, ".u32");
  add_from_float<std::int32_t, rounding>(table, mode, ".s32");
  add_from_float<std::uint64_t, rounding>(table, mode, ".u64");
  add_from_float<std::int64_t, rounding>(table, mode, ".s64");
  table.add({mode, ".f32.f32"}, vector_spec<Integral<float, rounding, false, false>>());
  table.add({mode, ".ftz.f32.f32"}, vector_spec<Integral<float, rounding, true, false>>());
  table.add({mode, ".sat.f32.f32"}, vector_spec<Integral<float, rounding, false, true>>());
  table.add({mode, ".ftz.sat.f32.f32"}, vector_spec<Integral<float, rounding, true, true>>());
  table.add({mode, ".f64.f64"}, vector_spec<Integral<double, rounding, false, false>>());
}

void add_between_floats(OpTable& table) {
  table.add({"cvt.f64.f32"}, vector_spec<ToDouble<false>>());
  table.add({"cvt.ftz.f64.f32"}, vector_spec<ToDouble<true>>());
  add_modes<ToSingle<double, false, false>>(table, ".f32.f64");
  add_modes<ToSingle<double, true, false>>(table, ".ftz.f32.f64");
  add_modes<ToSingle<double, false, true>>(table, ".sat.f32.f64");
  add_modes<ToSingle<double, true, true>>(table, ".ftz.sat.f32.f64");
  table.add({"cvt.f32.f32"}, vector_spec<ToSingle<float, false, false>>());
  table.add({"cvt.ftz.f32.f32"}, vector_spec<ToSingle<float, true, false>>());
  table.add({"cvt.sat.f32.f32"}, vector_spec<ToSingle<float, false, true>>());
  table.add({"cvt.ftz.sat.f32.f32"}, vector_spec<ToSingle<float, true, true>>());
}

void fill_conversions(OpTable& table) {
  add_resizes<U8>(table, "u8");
  add_resizes<S8>(table, "s8");
  add_resizes<std::uint16_t>(table, "u16");
  add_resizes<std::int16_t>(table, "s16");
  add_resizes<std::uint32_t>(table, "u32");
  add_resizes<std::int32_t>(table, "s32");
  add_resizes<std::uint64_t>(table, "u64");
  add_resizes<std::int64_t>(table, "s64");
  add_to_float<U8>(table, "u8");
  add_to_float<S8>(table, "s8");
  add_to_float<std::uint16_t>(table, "u16");
  add_to_float<std::int16_t>(table, "s16");
  add_to_float<std::uint32_t>(table, "u32");
  add_to_float<std::int32_t>(table, "s32");
  add_to_float<std::uint64_t>(table, "u64");
  add_to_float<std::int64_t>(table, "s64");
  add_integral<ToInteger::nearest>(table, "cvt.rni");
  add_integral<ToInteger::zero>(table, "cvt.rzi");
  add_integral<ToInteger::down>(table, "cvt.rmi");
  add_integral<ToInteger::up>(table, "cvt.rpi");
  add_between_floats(table);
}

}  // namespace rung::vgpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rung::vgpu {

namespace {

template <class D, class S>
struct Saturate {
  static D run(S a) {
    return LaneOf<D>::from(saturated_integer<typename LaneOf<D>::Number>(value_of(a)));
  }
};

template <class D, class S, ToInteger rounding, bool ftz>
struct SmallFromFloat {
  static D run(S a) {
    using Number = typename LaneOf<D>::Number;
    return LaneOf<D>::from(to_integer<Number>(integral<rounding>(flushed<ftz>(a))));
  }
};

// Does not use the CPU's rounding mode: compilers expand some conversions to a sequence of
// additions, which returns -0 for 0 when rounding down.
template <class D, class S, Rounding rounding>
struct DirectedToFloat {
  static D run(S a) { return directed<D, rounding>(a); }
};

template <class D, class S>
void add_directed(OpTable& table, const std::string& rest) {
  table.add({"cvt.rz", rest}, lane_spec<DirectedToFloat<D, S, Rounding::zero>>());
  table.add({"cvt.rm", rest}, lane_spec<DirectedToFloat<D, S, Rounding::down>>());
  table.add({"cvt.rp", rest}, lane_spec<DirectedToFloat<D, S, Rounding::up>>());
}

template <class S>
void add_directed_to_float(OpTable& table, const std::string& from) {
  add_directed<float, S>(table, ".f32." + from);
  add_directed<float, S>(table, ".ftz.f32." + from);
  if constexpr (sizeof(S) == 8) add_directed<double, S>(table, ".f64." + from);
}

template <class D, ToInteger rounding>
void add_small(OpTable& table, const std::string& mode, const std::string& to) {
  for (const std::string sat : {"", ".sat"}) {
    table.add({mode, sat, to, ".f32"}, lane_spec<SmallFromFloat<D, float, rounding, false>>());
    table.add({mode, ".ftz", sat, to, ".f32"},
              lane_spec<SmallFromFloat<D, float, rounding, true>>());
    table.add({mode, sat, to, ".f64"}, lane_spec<SmallFromFloat<D, double, rounding, false>>());
  }
}

template <class D>
void add_saturating(OpTable& table, const std::string& to) {
  const std::string start = "cvt.sat." + to;
  table.add({start, ".u8"}, lane_spec<Saturate<D, U8>>());
  table.add({start, ".s8"}, lane_spec<Saturate<D, S8>>());
  table.add({start, ".u16"}, lane_spec<Saturate<D, std::uint16_t>>());
  table.add({start, ".s16"}, lane_spec<Saturate<D, std::int16_t>>());
  table.add({start, ".u32"}, lane_spec<Saturate<D, std::uint32_t>>());
  table.add({start, ".s32"}, lane_spec<Saturate<D, std::int32_t>>());
  table.add({start, ".u64"}, lane_spec<Saturate<D, std::uint64_t>>());
  table.add({start, ".s64"}, lane_spec<Saturate<D, std::int64_t>>());
}

template <class D>
void add_small_from_float(OpTable& table, const std::string& to) {
  add_small<D, ToInteger::nearest>(table, "cvt.rni", "." + to);
  add_small<D, ToInteger::zero>(table, "cvt.rzi", "." + to);
  add_small<D, ToInteger::down>(table, "cvt.rmi", "." + to);
  add_small<D, ToInteger::up>(table, "cvt.rpi", "." + to);
}

}  // namespace

void add_conversions(OpTable& table) {
  RUNG_PICK_LANES(fill_conversions)(table);
  add_directed_to_float<std::uint32_t>(table, "u32");
  add_directed_to_float<std::int32_t>(table, "s32");
  add_directed_to_float<std::uint64_t>(table, "u64");
  add_directed_to_float<std::int64_t>(table, "s64");
  add_saturating<U8>(table, "u8");
  add_saturating<S8>(table, "s8");
  add_saturating<std::uint16_t>(table, "u16");
  add_saturating<std::int16_t>(table, "s16");
  add_saturating<std::uint32_t>(table, "u32");
  add_saturating<std::int32_t>(table, "s32");
  add_saturating<std::uint64_t>(table, "u64");
  add_saturating<std::int64_t>(table, "s64");
  add_small_from_float<U8>(table, "u8");
  add_small_from_float<S8>(table, "s8");
  add_small_from_float<std::uint16_t>(table, "u16");
  add_small_from_float<std::int16_t>(table, "s16");
}

}  // namespace rung::vgpu
#endif  // HWY_ONCE
