#pragma once
// Declares a CPU rung: a struct with a static member template `run` becomes one function per dtype.

#include <type_traits>

#include "core/dtype.hpp"
#include "core/problem.hpp"

namespace rung::cpu {

/// Whether CPU rungs multiply these types.
template <class In, class Out>
inline constexpr bool has_gemm =
    is_for_dot(dtype_of<In, Out>()) || dtype_of<In, Out>() == Dtype::i8;

/// C is complete when the call returns. The rung may use up to `threads` >= 1 threads.
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

  /// Null for types that no CPU rung supports.
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

template <class R>
constexpr GemmRung gemm_rung() {
  return {R::template run<float, float>,
          R::template run<double, double>,
          R::template run<std::uint32_t, std::uint32_t>,
          R::template run<bfloat16, float>,
          R::template run<float16, float>,
          R::template run<std::int8_t, std::uint32_t>};
}

enum class Strides { any, unit };

template <class R>
constexpr DotRung dot_rung(Strides strides) {
  return {strides == Strides::unit, R::template run<float, float>, R::template run<double, double>,
          R::template run<bfloat16, float>, R::template run<float16, float>};
}

}  // namespace rung::cpu
