// The range of tiles that can be summed in the fragment layout (fragment_sums-inl.hpp). Included
// once per instruction set.

#if defined(RUNG_VGPU_ENGINE_FRAGMENT_RANGE_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef RUNG_VGPU_ENGINE_FRAGMENT_RANGE_INL_HPP
#else
#define RUNG_VGPU_ENGINE_FRAGMENT_RANGE_INL_HPP
#endif

#include "vgpu/engine/matrix/product_groups-inl.hpp"

#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86
HWY_BEFORE_NAMESPACE();
namespace rung::vgpu::HWY_NAMESPACE {
namespace {

constexpr int reach = 63;
constexpr int fragment_fraction = 25;  // SumRule::fraction of all f32 sums of 16-bit elements

// Biased f32 exponents: bounds of the largest element of a tile and of the largest product of two
// elements. A zero is replaced by 2^-126 or less, whose products must stay below one unit.
constexpr int least_element = 127 - 38;
constexpr int least_product = lowest + 1 + reach, max_product = highest;

template <Element type>
constexpr int mantissa_of = type == Element::bf16 ? 7 : 10;

/// FragmentRows::largest, from the largest exponent as encoded in the element type.
template <Element type>
HWY_INLINE int checked_largest(int encoded) {
  const int infinity = 0x7FFF >> mantissa_of<type>;
  const int biased = encoded + (type == Element::bf16 ? 0 : 127 - 15);
  return encoded == infinity || biased < least_element ? 0 : biased;
}

}  // namespace
}  // namespace rung::vgpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif
