// add, sub, mul, fma, div, rcp, sqrt, neg, abs, min and max of f32 and f64, in SIMD code (PTX ISA,
// 9.7.3).

#include <cfenv>
#include <cmath>

#include "vgpu/engine/arithmetic/operations.hpp"
#include "vgpu/engine/numbers/float_bits.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "vgpu/engine/arithmetic/float.cpp"
#include "vgpu/engine/lanes/targets.hpp"
// Include after targets.hpp.
#include "vgpu/engine/lanes/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::vgpu::HWY_NAMESPACE {

template <class T, bool ftz, bool sat>
struct Add {
  static T run(T a, T b) { return finished<ftz, sat>(flushed<ftz>(a) + flushed<ftz>(b), a, b); }
};
template <class T, bool ftz, bool sat>
struct Sub {
  static T run(T a, T b) { return finished<ftz, sat>(flushed<ftz>(a) - flushed<ftz>(b), a, b); }
};
template <class T, bool ftz, bool sat>
struct Mul {
  static T run(T a, T b) {
    const T x = flushed<ftz>(a), y = flushed<ftz>(b);
    if constexpr (ftz) return finished<false, sat>(flushed_result<ftz>(x * y, x * ftz_scale * y));
    return finished<false, sat>(x * y, a, b);
  }
};
template <class T, bool ftz, bool sat>
struct Fma {
  static T run(T a, T b, T c) {
    const T x = flushed<ftz>(a), y = flushed<ftz>(b), z = flushed<ftz>(c);
    const T result = std::fma(x, y, z);
    if constexpr (ftz) {
      const T scaled = std::fma(x * ftz_scale, y, z * ftz_scale);
      return finished<false, sat>(flushed_result<ftz>(result, scaled));
    }
    return finished<false, sat>(result, a, b, c);
  }
};
template <class T, bool ftz, bool>
struct Div {
  static T run(T a, T b) {
    const T x = flushed<ftz>(a), y = flushed<ftz>(b);
    if constexpr (ftz) return finished<false, false>(flushed_result<ftz>(x / y, x * ftz_scale / y));
    return finished<false, false>(x / y, a, b);
  }
};
template <class T, bool ftz, bool>
struct Rcp {
  static T run(T a) { return finished<ftz, false>(T{1} / flushed<ftz>(a), a); }
};
template <class T, bool ftz, bool>
struct Sqrt {
  static T run(T a) { return finished<ftz, false>(std::sqrt(flushed<ftz>(a)), a); }
};

// neg and abs: a NaN keeps its sign.
template <class T, bool ftz>
struct Neg {
  static T run(T a) {
    const T negative = std::bit_cast<T>(bits_of(flushed<ftz>(a)) ^ sign_bit<T>);
    return canonical(a == a ? negative : quiet(a));
  }
};
template <class T, bool ftz>
struct Abs {
  static T run(T a) { return canonical(a == a ? magnitude(flushed<ftz>(a)) : quiet(a)); }
};

template <class T, bool ftz, bool smaller, bool nan>
struct Extreme {
  static T run(T a, T b) { return extreme<smaller, nan>(flushed<ftz>(a), flushed<ftz>(b)); }
};

// f32x2: applies the operation to both halves of a 64-bit register.
template <template <class, bool, bool> class Op, bool ftz>
struct Packed {
  static Float2 run(Float2 a, Float2 b) {
    return {Op<float, ftz, false>::run(a.low, b.low), Op<float, ftz, false>::run(a.high, b.high)};
  }
};
template <bool ftz>
struct PackedFma {
  static Float2 run(Float2 a, Float2 b, Float2 c) {
    return {Fma<float, ftz, false>::run(a.low, b.low, c.low),
            Fma<float, ftz, false>::run(a.high, b.high, c.high)};
  }
};

template <class Op>
void add_rounded(OpTable& table, const std::string& opcode, const std::string& rest) {
  table.add({opcode, ".rn", rest}, vector_spec<Op>());
  table.add({opcode, ".rz", rest}, rounded_spec<Op, FE_TOWARDZERO>());
  table.add({opcode, ".rm", rest}, rounded_spec<Op, FE_DOWNWARD>());
  table.add({opcode, ".rp", rest}, rounded_spec<Op, FE_UPWARD>());
}

/// Adds every rounding mode, for f32 with and without .ftz, and for f64.
template <template <class, bool, bool> class Op>
void add_rounded_types(OpTable& table, const std::string& opcode) {
  add_rounded<Op<float, false, false>>(table, opcode, ".f32");
  add_rounded<Op<float, true, false>>(table, opcode, ".ftz.f32");
  add_rounded<Op<double, false, false>>(table, opcode, ".f64");
}

template <template <class, bool, bool> class Op>
void add_saturating(OpTable& table, const std::string& opcode) {
  add_rounded<Op<float, false, true>>(table, opcode, ".sat.f32");
  add_rounded<Op<float, true, true>>(table, opcode, ".ftz.sat.f32");
}

/// Adds the form without a rounding mode, which rounds to nearest even.
template <template <class, bool, bool> class Op>
void add_unrounded(OpTable& table, const std::string& opcode) {
  table.add({opcode, ".f32"}, vector_spec<Op<float, false, false>>());
  table.add({opcode, ".ftz.f32"}, vector_spec<Op<float, true, false>>());
  table.add({opcode, ".sat.f32"}, vector_spec<Op<float, false, true>>());
  table.add({opcode, ".ftz.sat.f32"}, vector_spec<Op<float, true, true>>());
  table.add({opcode, ".f64"}, vector_spec<Op<double, false, false>>());
}

template <bool smaller>
void add_extremes(OpTable& table, const std::string& opcode) {
  table.add({opcode, ".f32"}, vector_spec<Extreme<float, false, smaller, false>>());
  table.add({opcode, ".ftz.f32"}, vector_spec<Extreme<float, true, smaller, false>>());
  table.add({opcode, ".NaN.f32"}, vector_spec<Extreme<float, false, smaller, true>>());
  table.add({opcode, ".ftz.NaN.f32"}, vector_spec<Extreme<float, true, smaller, true>>());
  table.add({opcode, ".f64"}, vector_spec<Extreme<double, false, smaller, false>>());
}

/// Adds the forms for pairs of f32; without a rounding mode they round to nearest even.
template <template <class, bool, bool> class Op>
void add_packed(OpTable& table, const std::string& opcode) {
  add_rounded<Packed<Op, false>>(table, opcode, ".f32x2");
  add_rounded<Packed<Op, true>>(table, opcode, ".ftz.f32x2");
  table.add({opcode, ".f32x2"}, vector_spec<Packed<Op, false>>());
  table.add({opcode, ".ftz.f32x2"}, vector_spec<Packed<Op, true>>());
}

void fill_float_arithmetic(OpTable& table) {
  add_unrounded<Add>(table, "add");
  add_unrounded<Sub>(table, "sub");
  add_unrounded<Mul>(table, "mul");
  add_rounded_types<Add>(table, "add");
  add_rounded_types<Sub>(table, "sub");
  add_rounded_types<Mul>(table, "mul");
  add_rounded_types<Div>(table, "div");
  add_rounded_types<Rcp>(table, "rcp");
  add_rounded_types<Sqrt>(table, "sqrt");
  add_saturating<Add>(table, "add");
  add_saturating<Sub>(table, "sub");
  add_saturating<Mul>(table, "mul");
  for (const std::string opcode : {"fma", "mad"}) {  // mad is fused since sm_20
    add_rounded_types<Fma>(table, opcode);
    add_saturating<Fma>(table, opcode);
  }
  add_packed<Add>(table, "add");
  add_packed<Sub>(table, "sub");
  add_packed<Mul>(table, "mul");
  add_rounded<PackedFma<false>>(table, "fma", ".f32x2");
  add_rounded<PackedFma<true>>(table, "fma", ".ftz.f32x2");
  table.add({"neg.f32"}, vector_spec<Neg<float, false>>());
  table.add({"neg.ftz.f32"}, vector_spec<Neg<float, true>>());
  table.add({"neg.f64"}, vector_spec<Neg<double, false>>());
  table.add({"abs.f32"}, vector_spec<Abs<float, false>>());
  table.add({"abs.ftz.f32"}, vector_spec<Abs<float, true>>());
  table.add({"abs.f64"}, vector_spec<Abs<double, false>>());
  add_extremes<true>(table, "min");
  add_extremes<false>(table, "max");
}

}  // namespace rung::vgpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rung::vgpu {

void add_float_arithmetic(OpTable& table) { RUNG_PICK_LANES(fill_float_arithmetic)(table); }

}  // namespace rung::vgpu
#endif  // HWY_ONCE
