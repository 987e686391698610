#pragma once
// Declares CPU rungs: from a struct with a static member template `run`, one function per dtype.

#include <cstdint>

#include "core/dtype_traits.hpp"
#include "core/problem.hpp"
#include "device/cpu/rung_descriptor.hpp"
#include "rung/types.hpp"

namespace rung::cpu {

/// True if CPU rungs support these types.
template <class In, class Out>
inline constexpr bool has_gemm =
    is_for_dot(dtype_of<In, Out>()) || dtype_of<In, Out>() == Dtype::i8;

template <class R>
constexpr GemmRung gemm_rung() {
  return {R::template run<float, float>,
          R::template run<double, double>,
          R::template run<std::uint32_t, std::uint32_t>,
          R::template run<bfloat16, float>,
          R::template run<float16, float>,
          R::template run<std::int8_t, std::uint32_t>};
}

/// Calls the functions that PICK returns, those for the instruction set of this machine.
template <GemmRung (*PICK)()>
struct Dispatched {
  template <class In, class Out>
  static void run(const Gemm<In, Out>& g, int threads) {
    static const auto function = PICK().template function<In, Out>();
    function(g, threads);
  }
};

/// A rung that is compiled once per instruction set (device/cpu/simd.hpp).
template <GemmRung (*PICK)()>
constexpr GemmRung dispatched_rung() {
  return gemm_rung<Dispatched<PICK>>();
}

enum class Strides { any, unit };

template <class R>
constexpr DotRung dot_rung(Strides strides) {
  return {strides == Strides::unit, R::template run<float, float>, R::template run<double, double>,
          R::template run<bfloat16, float>, R::template run<float16, float>};
}

}  // namespace rung::cpu
