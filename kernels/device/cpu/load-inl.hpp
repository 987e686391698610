// Loads vectors of float or double from memory of any element type. Included once per target, with
// the include guard of Highway's own -inl.h headers.

#if defined(RUNG_DEVICE_CPU_LOAD_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef RUNG_DEVICE_CPU_LOAD_INL_HPP
#undef RUNG_DEVICE_CPU_LOAD_INL_HPP
#else
#define RUNG_DEVICE_CPU_LOAD_INL_HPP
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "rung/types.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::cpu::HWY_NAMESPACE {

/// Loads Lanes(d) elements from `at` and converts them to the type of d.
template <class D, class In>
HWY_INLINE hwy::HWY_NAMESPACE::Vec<D> load(D d, const In* at) {
  namespace hn = hwy::HWY_NAMESPACE;
  if constexpr (std::is_same_v<In, bfloat16>) {
    const hn::RebindToUnsigned<D> words;
    const hn::Rebind<std::uint16_t, D> halves;
    return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(words, hn::LoadU(halves, &at->bits))));
  } else if constexpr (std::is_same_v<In, float16>) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_ARCH_ARM_A64
    const hn::Rebind<std::uint16_t, D> halves;
    const hn::Rebind<hwy::float16_t, D> floats;
    return hn::PromoteTo(d, hn::BitCast(floats, hn::LoadU(halves, &at->bits)));
#else  // no such instruction, and Highway's emulation loses infinities and NaN
    float widened[hn::MaxLanes(d)];
    for (float& element : widened) element = static_cast<float>(*at++);
    return hn::LoadU(d, widened);
#endif
  } else {
    return hn::LoadU(d, at);
  }
}

/// The same for the first `count` elements, fewer than Lanes(d); the other lanes are 0.
template <class D, class In>
HWY_INLINE hwy::HWY_NAMESPACE::Vec<D> load_first(D d, const In* at, std::int64_t count) {
  namespace hn = hwy::HWY_NAMESPACE;
#if RUNG_MASKS_LOADS
  if constexpr (std::is_same_v<In, hn::TFromD<D>>) {
    return hn::MaskedLoad(hn::FirstN(d, static_cast<std::size_t>(count)), d, at);
  }
#endif
  In padded[hn::MaxLanes(d)] = {};
  std::copy_n(at, count, padded);
  return load(d, padded);
}

/// The same, with a mask of the first `count` elements, for elements of the type of d.
template <class D, class M>
HWY_INLINE hwy::HWY_NAMESPACE::Vec<D> load_first(D d, M mask,
                                                 const hwy::HWY_NAMESPACE::TFromD<D>* at,
                                                 std::int64_t count) {
#if RUNG_MASKS_LOADS
  (void)count;
  return hwy::HWY_NAMESPACE::MaskedLoad(mask, d, at);
#else
  (void)mask;
  return load_first(d, at, count);
#endif
}

/// Keeps a loaded vector in its register: for few products GCC loads it again for each of them.
template <class V>
HWY_INLINE void keep(V& v) {
#if HWY_TARGET == HWY_AVX3 && defined(__GNUC__)
  asm("" : "+v"(v.raw));
#else
  (void)v;
#endif
}

}  // namespace rung::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
