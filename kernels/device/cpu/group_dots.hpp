#pragma once
// Dot-product instructions for a few columns of C. Rows of A and columns of B are contiguous, so
// k-groups can be loaded directly, and A is read once.

#include <cstdint>

#include "device/cpu/narrow_kernels.hpp"
#include "rung/types.hpp"

namespace rung::cpu {

/// The kernels for this machine, or null if it lacks the instructions.
template <class In, class Acc>
const NarrowDots<In, Acc>* group_dots() {
  return nullptr;
}
/// AVX512-BF16 or bfdot; FMAs on machines limited to AVX2.
template <>
const NarrowDots<bfloat16, float>* group_dots<bfloat16, float>();
/// FMAs, on machines limited to AVX2.
template <>
const NarrowDots<float16, float>* group_dots<float16, float>();
/// AVX512-VNNI, AVX-VNNI or sdot; pmaddwd on machines limited to AVX2.
template <>
const NarrowDots<std::int8_t, std::uint32_t>* group_dots<std::int8_t, std::uint32_t>();

}  // namespace rung::cpu
