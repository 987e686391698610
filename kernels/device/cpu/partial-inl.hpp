// Loads and stores of the first elements of a vector. Included once per target, with the include
// guard of Highway's own -inl.h headers.

#if defined(RUNG_DEVICE_CPU_PARTIAL_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef RUNG_DEVICE_CPU_PARTIAL_INL_HPP
#undef RUNG_DEVICE_CPU_PARTIAL_INL_HPP
#else
#define RUNG_DEVICE_CPU_PARTIAL_INL_HPP
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace rung::cpu::HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX2
/// Stores the first `count` elements as a sequence of half vectors, quarter vectors and so on: a
/// masked store takes about 20 instructions on AMD cores with AVX2.
template <class D>
HWY_INLINE void store_parts(D d, std::int64_t count, hwy::HWY_NAMESPACE::Vec<D> v,
                            hwy::HWY_NAMESPACE::TFromD<D>* to) {
  namespace hn = hwy::HWY_NAMESPACE;
  constexpr std::int64_t lanes = hn::MaxLanes(d);
  if (count == lanes) return hn::StoreU(v, d, to);
  if constexpr (lanes > 1) {
    const hn::Half<D> half;
    if (count < lanes / 2) return store_parts(half, count, hn::LowerHalf(half, v), to);
    hn::StoreU(hn::LowerHalf(half, v), half, to);
    store_parts(half, count - lanes / 2, hn::UpperHalf(half, v), to + lanes / 2);
  }
}
#endif

/// Stores the first `count` elements of sum + beta * c to c or, unless AddsC, those of sum without
/// reading c. `mask` covers the same elements.
template <bool AddsC, class D, class M>
HWY_INLINE void store_first(D d, M mask, std::int64_t count, hwy::HWY_NAMESPACE::Vec<D> sum,
                            hwy::HWY_NAMESPACE::TFromD<D> beta, hwy::HWY_NAMESPACE::TFromD<D>* c) {
  namespace hn = hwy::HWY_NAMESPACE;
#if HWY_TARGET == HWY_AVX2
  if constexpr (AddsC) sum = hn::MulAdd(hn::Set(d, beta), hn::MaskedLoad(mask, d, c), sum);
  store_parts(d, count, sum, c);
#elif HWY_MEM_OPS_MIGHT_FAULT
  (void)mask;
  HWY_ALIGN hn::TFromD<D> sums[hn::MaxLanes(d)];
  hn::Store(sum, d, sums);
  for (std::int64_t j = 0; j < count; ++j) c[j] = AddsC ? sums[j] + beta * c[j] : sums[j];
#else
  (void)count;
  if constexpr (AddsC) sum = hn::MulAdd(hn::Set(d, beta), hn::MaskedLoad(mask, d, c), sum);
  hn::BlendedStore(sum, mask, d, c);
#endif
}

/// Stores with AddsC if beta is not 0.
template <class D, class M>
HWY_INLINE void store_first(D d, M mask, std::int64_t count, hwy::HWY_NAMESPACE::Vec<D> sum,
                            hwy::HWY_NAMESPACE::TFromD<D> beta, hwy::HWY_NAMESPACE::TFromD<D>* c) {
  if (beta == 0) {
    store_first<false>(d, mask, count, sum, beta, c);
  } else {
    store_first<true>(d, mask, count, sum, beta, c);
  }
}

}  // namespace rung::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
