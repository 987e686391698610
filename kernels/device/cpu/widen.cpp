#include "device/cpu/widen.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/widen.cpp"
#include "device/cpu/simd.hpp"
// After simd.hpp, which must come first in a file that is compiled once per target.
#include "device/cpu/load-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class In>
void widen_all(const In* narrow, std::int64_t count, float* wide) {
  const hn::ScalableTag<float> d;
  constexpr std::int64_t lanes = hn::MaxLanes(d);
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(load(d, narrow + i), d, wide + i);
  for (; i < count; ++i) wide[i] = static_cast<float>(narrow[i]);
}

Widen<bfloat16> bf16() { return widen_all<bfloat16>; }
Widen<float16> f16() { return widen_all<float16>; }

}  // namespace rung::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rung::cpu {

template <>
Widen<bfloat16> widen<bfloat16>() {
  static const auto picked = RUNG_PICK_TARGET(bf16)();
  return picked;
}

template <>
Widen<float16> widen<float16>() {
  static const auto picked = RUNG_PICK_TARGET(f16)();
  return picked;
}

}  // namespace rung::cpu
#endif  // HWY_ONCE
