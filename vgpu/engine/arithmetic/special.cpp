// Functions that the hardware approximates (PTX ISA, 9.7.3): rcp, sqrt, rsqrt and div with .approx
// or .full, and ex2 and tanh of 16-bit numbers; approximations.cpp has the others. The results are
// computed in double precision and rounded, well within the error that the manual allows; their
// bits differ from the hardware's.

#include <cmath>

#include "vgpu/engine/arithmetic/operations.hpp"
#include "vgpu/engine/lanes/per_lane.hpp"
#include "vgpu/engine/numbers/approximations.hpp"
#include "vgpu/engine/numbers/float16.hpp"

namespace rung::vgpu {

namespace {

struct Reciprocal {
  static double of(double x) { return 1.0 / x; }
};
struct Root {
  static double of(double x) { return std::sqrt(x); }
};
struct ReciprocalRoot {
  static double of(double x) { return 1.0 / std::sqrt(x); }
};

template <class Function, bool ftz>
struct Approximate {
  static float run(float a) {
    return finished<ftz, false>(static_cast<float>(Function::of(flushed<ftz>(a))));
  }
};

template <class Function, class F>
struct ApproximateHalf {
  using Lane = typename F::Lane;
  static Lane run(Lane a) { return F::nearest(static_cast<float>(Function::of(F::number(a)))); }
};
template <class Function, class F, class Pair>
struct ApproximatePair {
  static Pair run(Pair a) {
    using Op = ApproximateHalf<Function, F>;
    return {Op::run(a.low), Op::run(a.high)};
  }
};

// Computes a * (1 / b), so the reciprocal of a very large b is 0.
template <bool ftz>
struct ApproximateDivision {
  static float run(float a, float b) {
    const float x = flushed<ftz>(a), y = flushed<ftz>(b);
    const bool vanishes = magnitude(y) > 0x1p126f && !std::isinf(y);
    const float quotient = vanishes ? x * std::copysign(0.0f, y) : x / y;
    return finished<ftz, false>(quotient);
  }
};

// .approx of f64: only the upper 32 bits of the argument are used, and the lower 32 of the result
// are 0.
template <class Function>
struct Gross {
  static double run(double a) {
    constexpr std::uint64_t upper = 0xFFFFFFFF00000000u;
    const double x = without_subnormal(std::bit_cast<double>(bits_of(a) & upper));
    const double result = without_subnormal(Function::of(x));
    if (result != result) return std::bit_cast<double>(std::uint64_t{0x7FFFFFFF00000000});
    return std::bit_cast<double>(bits_of(result) & upper);
  }
  static double without_subnormal(double x) {
    return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0, x) : x;
  }
};

struct RsqrtDouble {
  static double run(double a) { return propagated(1.0 / std::sqrt(a), a); }
};

template <class Function>
void add_approximate(OpTable& table, const std::string& opcode) {
  table.add({opcode, ".approx.f32"}, lane_spec<Approximate<Function, false>>());
  table.add({opcode, ".approx.ftz.f32"}, lane_spec<Approximate<Function, true>>());
}

template <class Function>
void add_halves(OpTable& table, const std::string& opcode, const std::string& bf16) {
  table.add({opcode, ".f16"}, lane_spec<ApproximateHalf<Function, F16>>());
  table.add({opcode, ".f16x2"}, lane_spec<ApproximatePair<Function, F16, Half2>>());
  table.add({opcode, bf16}, lane_spec<ApproximateHalf<Function, BF16>>());
  table.add({opcode, bf16, "x2"}, lane_spec<ApproximatePair<Function, BF16, Bfloat2>>());
}

}  // namespace

void add_special_functions(OpTable& table) {
  add_approximate<Reciprocal>(table, "rcp");
  add_approximate<Root>(table, "sqrt");
  add_approximate<ReciprocalRoot>(table, "rsqrt");
  add_halves<approximations::Exp2>(table, "ex2.approx", ".ftz.bf16");
  add_halves<approximations::Tanh>(table, "tanh.approx", ".bf16");
  table.add({"div.approx.f32"}, lane_spec<ApproximateDivision<false>>());
  table.add({"div.approx.ftz.f32"}, lane_spec<ApproximateDivision<true>>());
  table.add({"rcp.approx.ftz.f64"}, lane_spec<Gross<Reciprocal>>());
  table.add({"rsqrt.approx.ftz.f64"}, lane_spec<Gross<ReciprocalRoot>>());
  table.add({"rsqrt.approx.f64"}, lane_spec<RsqrtDouble>());
}

}  // namespace rung::vgpu
