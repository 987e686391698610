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

/// Stores the first `count` elements of sum + beta * c to c, which is not read if beta is 0.
/// `mask`: of the same elements.
template <class D, class M>
HWY_INLINE void store_first(D d, M mask, std::int64_t count, hwy::HWY_NAMESPACE::Vec<D> sum,
                            hwy::HWY_NAMESPACE::TFromD<D> beta, hwy::HWY_NAMESPACE::TFromD<D>* c) {
  namespace hn = hwy::HWY_NAMESPACE;
#if HWY_MEM_OPS_MIGHT_FAULT
  (void)mask;
  HWY_ALIGN hn::TFromD<D> sums[hn::MaxLanes(d)];
  hn::Store(sum, d, sums);
  for (std::int64_t j = 0; j < count; ++j) c[j] = beta == 0 ? sums[j] : sums[j] + beta * c[j];
#else
  (void)count;
  if (beta != 0) sum = hn::MulAdd(hn::Set(d, beta), hn::MaskedLoad(mask, d, c), sum);
  hn::BlendedStore(sum, mask, d, c);
#endif
}

}  // namespace rung::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
