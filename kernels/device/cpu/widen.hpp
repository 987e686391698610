#pragma once
// Conversion of contiguous 16-bit elements to float and back on the CPU.

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

/// wide[i * width + c] = narrow[i * stride + c] for i < rows and c < cols; 0 for other c < width.
template <class In>
using WidenRows = void (*)(std::int64_t rows, const In* narrow, std::int64_t stride,
                           std::int64_t cols, std::int64_t width, float* wide);

template <class In>
WidenRows<In> widen_rows();
template <>
WidenRows<bfloat16> widen_rows<bfloat16>();
template <>
WidenRows<float16> widen_rows<float16>();

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
