#pragma once
// A CPU rung as the library and the backends see it: its functions, one per dtype.

#include <cstdint>
#include <type_traits>

#include "core/problem.hpp"

namespace rung::cpu {

/// Runs a product. C is complete when the call returns. The rung may use up to `threads` >= 1
/// threads.
template <class In, class Out>
using GemmFunction = void (*)(const Gemm<In, Out>& problem, int threads);

template <class In, class Out>
using DotFunction = Out (*)(const Dot<In>& problem, int threads);

/// The functions of one gemm rung.
struct GemmRung {
  GemmFunction<float, float> f32;
  GemmFunction<double, double> f64;
  GemmFunction<std::uint32_t, std::uint32_t> i32;
  GemmFunction<bfloat16, float> bf16;
  GemmFunction<float16, float> f16;
  GemmFunction<std::int8_t, std::uint32_t> i8;

  /// The function for a type; null for types that no CPU rung supports.
  template <class In, class Out>
  GemmFunction<In, Out> function() const {
    if constexpr (std::is_same_v<In, float>) return f32;
    if constexpr (std::is_same_v<In, double>) return f64;
    if constexpr (std::is_same_v<In, std::uint32_t>) return i32;
    if constexpr (std::is_same_v<In, std::int8_t>) return i8;
    if constexpr (std::is_same_v<Out, float>) {
      if constexpr (std::is_same_v<In, bfloat16>) return bf16;
      if constexpr (std::is_same_v<In, float16>) return f16;
    }
    return nullptr;
  }
};

/// The functions of one dot rung. unit_stride: the rung requires incx == incy == 1.
struct DotRung {
  bool unit_stride;
  DotFunction<float, float> f32;
  DotFunction<double, double> f64;
  DotFunction<bfloat16, float> bf16;
  DotFunction<float16, float> f16;

  template <class In>
  auto function() const {
    if constexpr (std::is_same_v<In, float>) return f32;
    if constexpr (std::is_same_v<In, double>) return f64;
    if constexpr (std::is_same_v<In, bfloat16>) return bf16;
    if constexpr (std::is_same_v<In, float16>) return f16;
  }
};

}  // namespace rung::cpu
