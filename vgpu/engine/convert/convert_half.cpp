// The common forms of cvt between f32 and f16, bf16 and pairs of them, in SIMD code (PTX ISA,
// 9.7.9). The rare ones are in convert_narrow.cpp.

#include "vgpu/engine/arithmetic/operations.hpp"
#include "vgpu/engine/numbers/float16.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "vgpu/engine/convert/convert_half.cpp"
#include "vgpu/engine/lanes/targets.hpp"
// Include after targets.hpp.
#include "vgpu/engine/lanes/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::vgpu::HWY_NAMESPACE {

// A NaN becomes canonical, except from bf16 without .ftz, which is only a shift.
template <class F, bool ftz, bool sat>
struct WidenHalf {
  static float run(typename F::Lane a) {
    const float x = flushed<ftz>(F::number(a));
    if constexpr (sat) return saturated(x);
    return std::is_same_v<F, F16> || ftz ? canonical(x) : x;
  }
};

template <bool relu>
float clamped_below(float x) {
  return relu && x <= 0.0f ? 0.0f : x;
}

template <class F, bool relu>
struct NarrowToHalf {
  static typename F::Lane run(float a) { return F::nearest(clamped_below<relu>(a)); }
};

// The first source becomes the upper half.
template <class F, bool relu>
struct NarrowToPair {
  static std::uint32_t run(float a, float b) {
    const auto high = F::nearest(clamped_below<relu>(a)), low = F::nearest(clamped_below<relu>(b));
    return std::uint32_t{high.bits} << 16 | low.bits;
  }
};

template <class F>
void add_type(OpTable& table, const std::string& type) {
  table.add({"cvt.f32.", type}, vector_spec<WidenHalf<F, false, false>>());
  table.add({"cvt.ftz.f32.", type}, vector_spec<WidenHalf<F, true, false>>());
  table.add({"cvt.sat.f32.", type}, vector_spec<WidenHalf<F, false, true>>());
  table.add({"cvt.ftz.sat.f32.", type}, vector_spec<WidenHalf<F, true, true>>());
  table.add({"cvt.rn.", type, ".f32"}, vector_spec<NarrowToHalf<F, false>>());
  table.add({"cvt.rn.relu.", type, ".f32"}, vector_spec<NarrowToHalf<F, true>>());
  table.add({"cvt.rn.", type, "x2.f32"}, vector_spec<NarrowToPair<F, false>>());
  table.add({"cvt.rn.relu.", type, "x2.f32"}, vector_spec<NarrowToPair<F, true>>());
}

void fill_half_conversions(OpTable& table) {
  add_type<F16>(table, "f16");
  add_type<BF16>(table, "bf16");
}

}  // namespace rung::vgpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rung::vgpu {

void add_half_conversions(OpTable& table) { RUNG_PICK_LANES(fill_half_conversions)(table); }

}  // namespace rung::vgpu
#endif  // HWY_ONCE
