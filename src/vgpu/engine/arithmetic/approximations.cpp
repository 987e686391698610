// sin, cos, lg2, ex2 and tanh of f32 (PTX ISA, 9.7.3), which the hardware approximates. They are
// computed in double precision and rounded, well within the error that the manual allows; the bits
// differ from the hardware's.

#include <cmath>

#include "vgpu/engine/arithmetic/operations.hpp"
#include "vgpu/engine/numbers/float_bits.hpp"
#include "vgpu/engine/numbers/power_of_two.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "vgpu/engine/arithmetic/approximations.cpp"
#include "vgpu/engine/lanes/targets.hpp"
// After targets.hpp.
#include <hwy/contrib/math/math-inl.h>

#include "vgpu/engine/lanes/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::vgpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Doubles = hn::CappedTag<double, warp_size>;
using Double = hn::Vec<Doubles>;
constexpr Doubles d{};

/// Calls the scalar function for each lane.
template <class Function>
HWY_INLINE Double each(Double x) {
  alignas(64) double lanes[warp_size];
  hn::Store(x, d, lanes);
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) lanes[i] = Function::of(lanes[i]);
  return hn::Load(d, lanes);
}

/// Whether all of the lanes are in [low, high], which no NaN is.
HWY_INLINE bool all_in(Double x, double low, double high) {
  return hn::AllTrue(d, hn::And(hn::Ge(x, hn::Set(d, low)), hn::Le(x, hn::Set(d, high))));
}

// `of` a vector is for numbers in [low, high], which is where Highway's functions are accurate.
struct Sine {
  static constexpr double low = -39000, high = 39000;
  static double of(double x) { return std::sin(x); }
  static HWY_INLINE Double of(Double x) { return hn::Sin(d, x); }
};
struct Cosine {
  static constexpr double low = -39000, high = 39000;
  static double of(double x) { return std::cos(x); }
  static HWY_INLINE Double of(Double x) { return hn::Cos(d, x); }
};
struct Log2 {
  static constexpr double low = 0x1p-149, high = 0x1p127;
  static double of(double x) { return std::log2(x); }
  static HWY_INLINE Double of(Double x) { return hn::Log2(d, x); }
};
/// For all numbers: beyond the range of PowerOfTwo, results are infinite or zero in f32 as well.
struct Exp2 {
  static HWY_INLINE Double of(Double x) {
    const hn::RebindToSigned<Doubles> integers;
    constexpr int exponent_shift = 52;
    const auto inside =
        hn::Min(hn::Max(x, hn::Set(d, PowerOfTwo::low)), hn::Set(d, PowerOfTwo::high));
    const auto number = hn::IfThenElse(hn::IsNaN(x), x, inside);
    const auto whole = hn::Round(number);
    const auto rest = hn::Sub(number, whole);
    auto sum = hn::Set(d, PowerOfTwo::coefficients.back());
    for (std::size_t k = PowerOfTwo::coefficients.size() - 1; k-- > 0;) {
      sum = hn::MulAdd(sum, rest, hn::Set(d, PowerOfTwo::coefficients[k]));
    }
    const auto exponent = hn::ShiftLeft<exponent_shift>(whole_numbers(whole));
    return hn::IfThenElse(hn::IsNaN(x), x,
                          hn::BitCast(d, hn::Add(hn::BitCast(integers, sum), exponent)));
  }

 private:
  /// Small integers: as the low bits of their sum with 1.5 * 2^52.
  static HWY_INLINE hn::VFromD<hn::RebindToSigned<Doubles>> whole_numbers(Double whole) {
    const hn::RebindToSigned<Doubles> integers;
    const auto magic = hn::Set(d, 0x1.8p52);
    return hn::Sub(hn::BitCast(integers, hn::Add(whole, magic)), hn::BitCast(integers, magic));
  }
};
struct Tanh {
  static constexpr double low = -0x1p127, high = 0x1p127;
  static double of(double x) { return std::tanh(x); }
  static HWY_INLINE Double of(Double x) { return hn::Tanh(d, x); }
};

template <class Function>
HWY_INLINE Double apply(Double x) {
  return all_in(x, Function::low, Function::high) ? Function::of(x) : each<Function>(x);
}
template <>
HWY_INLINE Double apply<Exp2>(Double x) {
  return Exp2::of(x);
}

template <class Function, bool ftz>
void approximate(Warp& warp, const Instr& instr) {
  const hn::Rebind<float, Doubles> floats;
  alignas(64) float numbers[warp_size];
  const float* from = warp.row<float>(instr.row[1]);
  float* const to = warp.row<float>(instr.row[0]);
  for (int lane = 0; lane < warp_size; ++lane) numbers[lane] = flushed<ftz>(from[lane]);
  for (std::size_t i = 0; i < warp_size; i += hn::Lanes(d)) {
    const auto x = hn::PromoteTo(d, hn::Load(floats, numbers + i));
    hn::Store(hn::DemoteTo(floats, apply<Function>(x)), floats, numbers + i);
  }
  for (int lane = 0; lane < warp_size; ++lane) to[lane] = finished<ftz, false>(numbers[lane]);
}

template <class Function, bool ftz>
OpSpec approximation() {
  constexpr Handler full = approximate<Function, ftz>;
  return {full, masked<std::uint32_t, full>, {ptx::Type::f32, ptx::Type::f32}};
}

template <class Function>
void add_approximation(OpTable& table, const std::string& opcode) {
  table.add({opcode, ".approx.f32"}, approximation<Function, false>());
  table.add({opcode, ".approx.ftz.f32"}, approximation<Function, true>());
}

void fill_approximations(OpTable& table) {
  add_approximation<Sine>(table, "sin");
  add_approximation<Cosine>(table, "cos");
  add_approximation<Log2>(table, "lg2");
  add_approximation<Exp2>(table, "ex2");
  table.add({"tanh.approx.f32"}, approximation<Tanh, false>());
}

}  // namespace
}  // namespace rung::vgpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rung::vgpu {

void add_approximations(OpTable& table) { RUNG_PICK_LANES(fill_approximations)(table); }

}  // namespace rung::vgpu
#endif  // HWY_ONCE
