#pragma once
// What the host knows of a CUDA rung: the entry's name in the compiled module, and its launch.

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "core/problem.hpp"
#include "device/cuda/launch.hpp"
#include "rung/types.hpp"

namespace rung::cuda {

/// For which blocks, threads and shared memory a problem asks; the pointers in it are the device's.
template <class In, class Out>
using GemmLaunch = Launch (*)(const Gemm<In, Out>& problem);

/// The launches of one gemm rung; null for a type that it has not. A type's entry is
/// `<entry>_<dtype>`.
struct GemmRung {
  std::string_view entry;
  GemmLaunch<float, float> f32;
  GemmLaunch<double, double> f64;
  GemmLaunch<std::uint32_t, std::uint32_t> i32;
  GemmLaunch<bfloat16, float> bf16;
  GemmLaunch<float16, float> f16;

  template <class In>
  auto launch() const {
    if constexpr (std::is_same_v<In, float>) return f32;
    if constexpr (std::is_same_v<In, double>) return f64;
    if constexpr (std::is_same_v<In, std::uint32_t>) return i32;
    if constexpr (std::is_same_v<In, bfloat16>) return bf16;
    if constexpr (std::is_same_v<In, float16>) return f16;
  }
};

template <class R>
constexpr GemmRung gemm_rung(std::string_view entry) {
  return {entry,
          R::template launch<float, float>,
          R::template launch<double, double>,
          R::template launch<std::uint32_t, std::uint32_t>,
          R::template launch<bfloat16, float>,
          R::template launch<float16, float>};
}

/// A rung whose kernel has one type for all operands, of at least 4 bytes.
template <class R>
constexpr GemmRung gemm_rung_of_words(std::string_view entry) {
  return {entry,
          R::template launch<float>,
          R::template launch<double>,
          R::template launch<std::uint32_t>,
          nullptr,
          nullptr};
}

}  // namespace rung::cuda
