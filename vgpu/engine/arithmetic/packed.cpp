// Integer arithmetic on parts of a 32-bit register: dp4a, dp2a (PTX ISA, 9.7.1.23 and 9.7.1.24);
// add, min and max of u16x2 and s16x2. Also mad.hi.sat and mad24.hi.sat.

#include "vgpu/engine/arithmetic/operations.hpp"
#include "vgpu/engine/lanes/per_lane.hpp"
#include "vgpu/engine/numbers/integer_ops.hpp"

namespace rung::vgpu {

namespace {

/// Part `index` of a word, sign- or zero-extended.
template <class Part>
std::int32_t part(std::uint32_t word, int index) {
  return static_cast<Part>(word >> (index * static_cast<int>(sizeof(Part)) * 8));
}

// dp4a. Each product fits in 32 bits; the sum wraps.
template <class A, class B>
struct DotBytes {
  static std::uint32_t run(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    for (int i = 0; i < 4; ++i) c += static_cast<std::uint32_t>(part<A>(a, i) * part<B>(b, i));
    return c;
  }
};

/// dp2a: dot product of the two 16-bit halves of a with bytes `first` and `first` + 1 of b, plus c.
template <class A, class B, int first>
struct DotHalves {
  static std::uint32_t run(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    for (int i = 0; i < 2; ++i) {
      c += static_cast<std::uint32_t>(part<A>(a, i) * part<B>(b, first + i));
    }
    return c;
  }
};

template <bool is_signed, std::size_t bytes>
using Part =
    std::conditional_t<bytes == 1, std::conditional_t<is_signed, std::int8_t, std::uint8_t>,
                       std::conditional_t<is_signed, std::int16_t, std::uint16_t>>;

template <bool a_signed, bool b_signed>
void add_dots(OpTable& table, const std::string& types) {
  using B = Part<b_signed, 1>;
  table.add({"dp4a", types}, lane_spec<DotBytes<Part<a_signed, 1>, B>>());
  table.add({"dp2a.lo", types}, lane_spec<DotHalves<Part<a_signed, 2>, B, 0>>());
  table.add({"dp2a.hi", types}, lane_spec<DotHalves<Part<a_signed, 2>, B, 2>>());
}

struct PartSum {
  static std::int32_t of(std::int32_t a, std::int32_t b) { return a + b; }
};
struct PartMin {
  static std::int32_t of(std::int32_t a, std::int32_t b) { return a < b ? a : b; }
};
struct PartMax {
  static std::int32_t of(std::int32_t a, std::int32_t b) { return a < b ? b : a; }
};
template <class Op>
struct PartRelu {
  static std::int32_t of(std::int32_t a, std::int32_t b) { return PartMax::of(Op::of(a, b), 0); }
};

template <class Op, class T>
struct EachHalf {
  static std::uint32_t run(std::uint32_t a, std::uint32_t b) {
    const auto low = static_cast<std::uint32_t>(Op::of(part<T>(a, 0), part<T>(b, 0)));
    const auto high = static_cast<std::uint32_t>(Op::of(part<T>(a, 1), part<T>(b, 1)));
    return (low & 0xFFFF) | high << 16;
  }
};

struct MadHiSat {
  static std::int32_t run(std::int32_t a, std::int32_t b, std::int32_t c) {
    return clamped<std::int32_t>(std::int64_t{high_product(a, b)} + c);
  }
};
struct Mad24HiSat {
  static std::int32_t run(std::int32_t a, std::int32_t b, std::int32_t c) {
    return clamped<std::int32_t>((product24(a, b) >> 16) + c);
  }
};

}  // namespace

void add_packed_integer_arithmetic(OpTable& table) {
  add_dots<false, false>(table, ".u32.u32");
  add_dots<false, true>(table, ".u32.s32");
  add_dots<true, false>(table, ".s32.u32");
  add_dots<true, true>(table, ".s32.s32");
  table.add({"add.u16x2"}, lane_spec<EachHalf<PartSum, std::uint16_t>>());
  table.add({"add.s16x2"}, lane_spec<EachHalf<PartSum, std::int16_t>>());
  table.add({"min.u16x2"}, lane_spec<EachHalf<PartMin, std::uint16_t>>());
  table.add({"min.s16x2"}, lane_spec<EachHalf<PartMin, std::int16_t>>());
  table.add({"max.u16x2"}, lane_spec<EachHalf<PartMax, std::uint16_t>>());
  table.add({"max.s16x2"}, lane_spec<EachHalf<PartMax, std::int16_t>>());
  table.add({"min.relu.s16x2"}, lane_spec<EachHalf<PartRelu<PartMin>, std::int16_t>>());
  table.add({"max.relu.s16x2"}, lane_spec<EachHalf<PartRelu<PartMax>, std::int16_t>>());
  table.add({"mad.hi.sat.s32"}, lane_spec<MadHiSat>());
  table.add({"mad24.hi.sat.s32"}, lane_spec<Mad24HiSat>());
}

}  // namespace rung::vgpu
