// Horizontal sums of several vectors. Included once per target, with the include guard of Highway's
// own -inl.h headers.

#if defined(RUNG_DEVICE_CPU_LANE_SUMS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef RUNG_DEVICE_CPU_LANE_SUMS_INL_HPP
#undef RUNG_DEVICE_CPU_LANE_SUMS_INL_HPP
#else
#define RUNG_DEVICE_CPU_LANE_SUMS_INL_HPP
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace rung::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR
/// The sum of the 128-bit blocks of a vector.
template <class D>
HWY_INLINE auto add_blocks(D d, hn::Vec<D> v) {
  if constexpr (hn::MaxLanes(d) * sizeof(hn::TFromD<D>) <= 16) {
    return v;
  } else {
    const hn::Half<D> half;
    return add_blocks(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}

/// The lane sums of as many vectors as a block has elements, in one block. Needs a third of the
/// instructions of separate reductions.
template <class D>
HWY_INLINE auto block_of_sums(D d, const hn::Vec<D>* v) {
  const auto add = [&](auto a, auto b) HWY_ATTR {
    return hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b));
  };
  if constexpr (sizeof(hn::TFromD<D>) == 8) {
    return add_blocks(d, add(v[0], v[1]));
  } else {
    const hn::Repartition<double, D> pairs;
    const auto v01 = hn::BitCast(pairs, add(v[0], v[1]));
    const auto v23 = hn::BitCast(pairs, add(v[2], v[3]));
    return add_blocks(d, hn::Add(hn::BitCast(d, hn::InterleaveLower(pairs, v01, v23)),
                                 hn::BitCast(d, hn::InterleaveUpper(pairs, v01, v23))));
  }
}
#endif

/// sums[i] = the sum of the lanes of v[i].
template <int Count, class V, class T>
HWY_INLINE void add_lanes(const V* v, T* sums) {
  int i = 0;
#if HWY_TARGET != HWY_SCALAR
  constexpr int block = 16 / sizeof(T);
  const hn::FixedTag<T, block> d;
#pragma GCC unroll 8
  for (; i + block <= Count; i += block)
    hn::StoreU(block_of_sums(hn::ScalableTag<T>(), v + i), d, sums + i);
#endif
#pragma GCC unroll 4
  for (; i < Count; ++i) sums[i] = hn::GetLane(hn::SumOfLanes(hn::ScalableTag<T>(), v[i]));
}

}  // namespace rung::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
