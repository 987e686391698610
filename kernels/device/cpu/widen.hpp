#pragma once
// Conversion of contiguous 16-bit elements to float, for this machine.

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

}  // namespace rung::cpu
