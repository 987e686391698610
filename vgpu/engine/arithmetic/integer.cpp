// Integer arithmetic in SIMD code: add, sub, mul, mad, mul24, mad24, sad, abs, neg, min, max (PTX
// ISA, 9.7.1). Sums and products are computed unsigned, so that they wrap.

#include <limits>

#include "vgpu/engine/arithmetic/operations.hpp"
#include "vgpu/engine/numbers/integer_ops.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "vgpu/engine/arithmetic/integer.cpp"
#include "vgpu/engine/lanes/targets.hpp"
// Include after targets.hpp.
#include "vgpu/engine/lanes/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::vgpu::HWY_NAMESPACE {

template <class T>
struct AddInt {
  static T run(T a, T b) { return wrapped_sum(a, b); }
};
template <class T>
struct SubInt {
  static T run(T a, T b) { return wrapped_difference(a, b); }
};
template <class T>
struct MulLo {
  static T run(T a, T b) { return wrapped_product(a, b); }
};
template <class T>
struct MadLo {
  static T run(T a, T b, T c) { return wrapped_sum(wrapped_product(a, b), c); }
};
template <class T>
struct MulHi {
  static T run(T a, T b) { return high_product(a, b); }
};
template <class T>
struct MadHi {
  static T run(T a, T b, T c) { return wrapped_sum(high_product(a, b), c); }
};
template <class T>
struct MulWide {
  static Twice<T> run(T a, T b) { return wide_product(a, b); }
};
template <class T>
struct MadWide {
  static Twice<T> run(T a, T b, Twice<T> c) { return wrapped_sum(wide_product(a, b), c); }
};
template <class T>
struct Sad {
  static T run(T a, T b, T c) {
    return wrapped_sum(c, a < b ? wrapped_difference(b, a) : wrapped_difference(a, b));
  }
};
template <class T>
struct NegInt {
  static T run(T a) { return wrapped_difference(T{0}, a); }
};
template <class T>
struct AbsInt {
  static T run(T a) { return a < 0 ? wrapped_difference(T{0}, a) : a; }
};
template <class T>
struct Min {
  static T run(T a, T b) { return a < b ? a : b; }
};
template <class T>
struct Max {
  static T run(T a, T b) { return a < b ? b : a; }
};
// .relu: replaces a negative result by 0.
template <class Op>
struct Relu {
  static std::int32_t run(std::int32_t a, std::int32_t b) {
    const std::int32_t result = Op::run(a, b);
    return result < 0 ? 0 : result;
  }
};
struct AddSat {
  static std::int32_t run(std::int32_t a, std::int32_t b) {
    return clamped<std::int32_t>(std::int64_t{a} + b);
  }
};
struct SubSat {
  static std::int32_t run(std::int32_t a, std::int32_t b) {
    return clamped<std::int32_t>(std::int64_t{a} - b);
  }
};

// mul24 and mad24: multiply the low 24 bits of a and b. .lo returns bits 31 to 0 of the 48-bit
// product, .hi bits 47 to 16.
template <class T, int shift>
struct Mul24 {
  static T run(T a, T b) { return static_cast<T>(product24(a, b) >> shift); }
};
template <class T, int shift>
struct Mad24 {
  static T run(T a, T b, T c) { return wrapped_sum(Mul24<T, shift>::run(a, b), c); }
};

template <class T>
void add_common(OpTable& table, const std::string& type) {
  table.add({"add.", type}, vector_spec<AddInt<T>>());
  table.add({"sub.", type}, vector_spec<SubInt<T>>());
  table.add({"mul.lo.", type}, vector_spec<MulLo<T>>());
  table.add({"mad.lo.", type}, vector_spec<MadLo<T>>());
  table.add({"mul.hi.", type}, vector_spec<MulHi<T>>());
  table.add({"mad.hi.", type}, vector_spec<MadHi<T>>());
  table.add({"sad.", type}, vector_spec<Sad<T>>());
  table.add({"min.", type}, vector_spec<Min<T>>());
  table.add({"max.", type}, vector_spec<Max<T>>());
  if constexpr (std::is_signed_v<T>) {
    table.add({"neg.", type}, vector_spec<NegInt<T>>());
    table.add({"abs.", type}, vector_spec<AbsInt<T>>());
  }
  if constexpr (sizeof(T) < 8) {
    table.add({"mul.wide.", type}, vector_spec<MulWide<T>>());
    table.add({"mad.wide.", type}, vector_spec<MadWide<T>>());
  }
}

template <class T>
void add_24_bits(OpTable& table, const std::string& type) {
  table.add({"mul24.lo.", type}, vector_spec<Mul24<T, 0>>());
  table.add({"mul24.hi.", type}, vector_spec<Mul24<T, 16>>());
  table.add({"mad24.lo.", type}, vector_spec<Mad24<T, 0>>());
  table.add({"mad24.hi.", type}, vector_spec<Mad24<T, 16>>());
}

void fill_integer_arithmetic(OpTable& table) {
  add_common<std::uint16_t>(table, "u16");
  add_common<std::int16_t>(table, "s16");
  add_common<std::uint32_t>(table, "u32");
  add_common<std::int32_t>(table, "s32");
  add_common<std::uint64_t>(table, "u64");
  add_common<std::int64_t>(table, "s64");
  add_24_bits<std::uint32_t>(table, "u32");
  add_24_bits<std::int32_t>(table, "s32");
  table.add({"min.relu.s32"}, vector_spec<Relu<Min<std::int32_t>>>());
  table.add({"max.relu.s32"}, vector_spec<Relu<Max<std::int32_t>>>());
  table.add({"add.sat.s32"}, vector_spec<AddSat>());
  table.add({"sub.sat.s32"}, vector_spec<SubSat>());
}

}  // namespace rung::vgpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rung::vgpu {

void add_integer_arithmetic(OpTable& table) { RUNG_PICK_LANES(fill_integer_arithmetic)(table); }

}  // namespace rung::vgpu
#endif  // HWY_ONCE
