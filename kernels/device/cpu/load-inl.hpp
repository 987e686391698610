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
#else  // no conversion instruction; Highway's emulation loses infinities and NaN
    const hn::RebindToSigned<D> words;
    const hn::Rebind<std::uint16_t, D> halves;
    const auto word = hn::PromoteTo(words, hn::LoadU(halves, &at->bits));
    const auto magnitude = hn::And(word, hn::Set(words, 0x7FFF));
    const auto sign = hn::ShiftLeft<16>(hn::Sub(word, magnitude));
    const auto is_finite = hn::Lt(magnitude, hn::Set(words, 0x7C00));
    const auto is_subnormal = hn::Lt(magnitude, hn::Set(words, 0x400));
    const auto rebias =
        hn::IfThenElse(is_finite, hn::Set(words, 0x38000000), hn::Set(words, 0x70000000));
    const auto normal = hn::Add(hn::ShiftLeft<13>(magnitude), rebias);
    const auto subnormal = hn::Mul(hn::ConvertTo(d, magnitude), hn::Set(d, 0x1p-24f));
    const auto value = hn::IfThenElse(is_subnormal, hn::BitCast(words, subnormal), normal);
    return hn::BitCast(d, hn::Or(value, sign));
#endif
  } else {
    return hn::LoadU(d, at);
  }
}

/// Loads and converts the first `count` elements, fewer than Lanes(d); other lanes are 0.
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

/// Loads the first `count` elements, given their mask, without conversion.
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

/// Keeps a loaded vector in its register. Otherwise GCC reloads it for each of a small number of
/// products.
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
