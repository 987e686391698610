// sin, cos, lg2, ex2 and tanh of f32 (PTX ISA, 9.7.3), which the hardware approximates. The results
// are computed in double precision and rounded, well within the error that the manual allows; their
// bits differ from the hardware's.

#include "vgpu/engine/numbers/approximations.hpp"

#include <algorithm>
#include <cmath>

#include "vgpu/engine/arithmetic/operations.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "vgpu/engine/arithmetic/approximations.cpp"
#include "vgpu/engine/lanes/targets.hpp"
// Include after targets.hpp.
#include "vgpu/engine/lanes/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::vgpu::HWY_NAMESPACE {
namespace {

template <class Function, bool ftz>
struct Approximate {
  static float run(float a) {
    return finished<ftz, false>(static_cast<float>(Function::of(flushed<ftz>(a))));
  }
};

/// Passes large angles to the C library.
template <class Function, bool ftz>
void circular(Warp& warp, const Instr& instr) {
  alignas(64) float angles[warp_size];
  std::copy_n(warp.row<float>(instr.row[1]), warp_size, angles);
  lanes<Approximate<Function, ftz>>(warp, instr);
  float* const to = warp.row<float>(instr.row[0]);
  int beyond = 0;
  for (const float angle : angles) beyond += magnitude(angle) <= Function::limit ? 0 : 1;
  for (int lane = 0; beyond > 0 && lane < warp_size; ++lane) {
    if (magnitude(angles[lane]) <= Function::limit) continue;
    to[lane] = canonical(static_cast<float>(Function::beyond_limit(angles[lane])));
  }
}

template <class Function, bool ftz>
OpSpec circular_spec() {
  constexpr Handler full = circular<Function, ftz>;
  return {full, masked<std::uint32_t, full>, {ptx::Type::f32, ptx::Type::f32}};
}

template <class Function>
void add_circular(OpTable& table, const std::string& opcode) {
  table.add({opcode, ".approx.f32"}, circular_spec<Function, false>());
  table.add({opcode, ".approx.ftz.f32"}, circular_spec<Function, true>());
}

template <class Function>
void add_approximation(OpTable& table, const std::string& opcode) {
  table.add({opcode, ".approx.f32"}, vector_spec<Approximate<Function, false>>());
  table.add({opcode, ".approx.ftz.f32"}, vector_spec<Approximate<Function, true>>());
}

void fill_approximations(OpTable& table) {
  add_circular<approximations::Sine>(table, "sin");
  add_circular<approximations::Cosine>(table, "cos");
  add_approximation<approximations::Log2>(table, "lg2");
  add_approximation<approximations::Exp2>(table, "ex2");
  table.add({"tanh.approx.f32"}, vector_spec<Approximate<approximations::Tanh, false>>());
}

}  // namespace
}  // namespace rung::vgpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rung::vgpu {

void add_approximations(OpTable& table) { RUNG_PICK_LANES(fill_approximations)(table); }

}  // namespace rung::vgpu
#endif  // HWY_ONCE
