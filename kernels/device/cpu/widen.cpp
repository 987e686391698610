#include "device/cpu/widen.hpp"

#include "device/cpu/float_environment.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/widen.cpp"
#include "device/cpu/simd.hpp"
// Include after simd.hpp, which must come first in a file that is compiled once per target.
#include "device/cpu/load-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class In>
void widen_all(const In* narrow, std::int64_t count, float* wide) {
  const hn::ScalableTag<float> d;
  constexpr std::int64_t lanes = hn::MaxLanes(d);
  std::int64_t i = 0;
  if (count < lanes) {
    for (; i < count; ++i) wide[i] = static_cast<float>(narrow[i]);
    return;
  }
  for (; i + lanes <= count; i += lanes) hn::StoreU(load(d, narrow + i), d, wide + i);
  // The last whole vector, which overlaps the previous one.
  if (i < count) hn::StoreU(load(d, narrow + count - lanes), d, wide + count - lanes);
}

template <class In>
void widen_rows(std::int64_t rows, const In* narrow, std::int64_t stride, std::int64_t cols,
                std::int64_t width, float* wide) {
  for (std::int64_t i = 0; i < rows; ++i, narrow += stride, wide += width) {
    widen_all(narrow, cols, wide);
    for (std::int64_t c = cols; c < width; ++c) wide[c] = 0;
  }
}

void to_bf16(const float* wide, std::int64_t count, bfloat16* narrow) {
  const hn::ScalableTag<float> d;
  const hn::RebindToUnsigned<decltype(d)> words;
  const hn::RebindToSigned<decltype(d)> integers;
  const hn::Rebind<std::uint16_t, decltype(d)> halves;
  constexpr std::int64_t lanes = hn::MaxLanes(d);
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto x = hn::LoadU(d, wide + i);
    const auto bits = hn::BitCast(words, x);
    const auto upper = hn::ShiftRight<16>(bits);
    const auto odd = hn::And(upper, hn::Set(words, 1));
    const auto rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(odd, hn::Set(words, 0x7FFF))));
    const auto quiet = hn::Or(upper, hn::Set(words, 0x40));
    const auto result = hn::IfThenElse(hn::RebindMask(words, hn::IsNaN(x)), quiet, rounded);
    hn::StoreU(hn::DemoteTo(halves, hn::BitCast(integers, result)), halves, &narrow[i].bits);
  }
  for (; i < count; ++i) narrow[i] = bfloat16(wide[i]);
}

void to_f16(const float* wide, std::int64_t count, float16* narrow) {
  std::int64_t i = 0;
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_ARCH_ARM_A64
  const hn::ScalableTag<float> d;
  const hn::Rebind<std::uint16_t, decltype(d)> halves;
  const hn::Rebind<hwy::float16_t, decltype(d)> floats;
  constexpr std::int64_t lanes = hn::MaxLanes(d);
#if HWY_ARCH_ARM_A64  // x86's instruction always rounds to nearest
  const ScopedFloatControl to_nearest(default_float_control);
#endif
  for (; i + lanes <= count; i += lanes) {
    const auto rounded = hn::DemoteTo(floats, hn::LoadU(d, wide + i));
    hn::StoreU(hn::BitCast(halves, rounded), halves, &narrow[i].bits);
  }
#endif
  for (; i < count; ++i) narrow[i] = float16(wide[i]);
}

Widen<bfloat16> bf16() { return widen_all<bfloat16>; }
Widen<float16> f16() { return widen_all<float16>; }
WidenRows<bfloat16> rows_of_bf16() { return widen_rows<bfloat16>; }
WidenRows<float16> rows_of_f16() { return widen_rows<float16>; }

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

template <>
WidenRows<bfloat16> widen_rows<bfloat16>() {
  static const auto picked = RUNG_PICK_TARGET(rows_of_bf16)();
  return picked;
}

template <>
WidenRows<float16> widen_rows<float16>() {
  static const auto picked = RUNG_PICK_TARGET(rows_of_f16)();
  return picked;
}

template <>
Narrow<bfloat16> narrow<bfloat16>() {
  static const auto picked = RUNG_PICK_TARGET(to_bf16);
  return picked;
}

template <>
Narrow<float16> narrow<float16>() {
  static const auto picked = RUNG_PICK_TARGET(to_f16);
  return picked;
}

}  // namespace rung::cpu
#endif  // HWY_ONCE
