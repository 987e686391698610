#pragma once
// Conversion of contiguous 16-bit elements to float and back, for this machine.

#include <cstdint>

#include "rung/types.hpp"

namespace rung::cpu {

/// wide[i] = narrow[i] for i < count. In is bfloat16 or float16.
template <class In>
using Widen = void (*)(const In* narrow, std::int64_t count, float* wide);

template <class In>
Widen<In> widen();
template <>
Widen<bfloat16> widen<bfloat16>();
template <>
Widen<float16> widen<float16>();

/// narrow[i] = wide[i] for i < count, rounded to nearest, ties to even.
template <class Out>
using Narrow = void (*)(const float* wide, std::int64_t count, Out* narrow);

template <class Out>
Narrow<Out> narrow();
template <>
Narrow<bfloat16> narrow<bfloat16>();
template <>
Narrow<float16> narrow<float16>();

}  // namespace rung::cpu
