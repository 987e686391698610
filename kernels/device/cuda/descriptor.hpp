#pragma once
// What the host knows of a CUDA rung: the entry's name in the compiled module, and its launch.

#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include "core/problem.hpp"
#include "device/cuda/launch.hpp"
#include "rung/types.hpp"

namespace rung::cuda {

/// What a caller chooses beyond the problem.
struct GemmPlan {
  int tile = 0;    // of GemmRung::tiles
  int splits = 1;  // parts of k, summed by blocks of their own
};

/// For which blocks, threads and memory a problem asks; the pointers in it are the device's.
template <class In, class Out>
using GemmLaunch = Launch (*)(const Gemm<In, Out>& problem, const GemmPlan& plan);

/// The launches of one gemm rung. A type's entry is `<entry>_<dtype>`, or `<entry>_<dtype>_<tile>`
/// where tiles have names. It takes the problem, and behind it what Launch::workspace_bytes says.
struct GemmRung {
  std::string_view entry;
  GemmLaunch<float, float> f32;
  GemmLaunch<double, double> f64;
  GemmLaunch<std::uint32_t, std::uint32_t> i32;
  GemmLaunch<bfloat16, float> bf16;
  GemmLaunch<float16, float> f16;
  /// Empty if there is one, without a name.
  std::span<const std::string_view> tiles = {};

  template <class In>
  auto launch() const {
    if constexpr (std::is_same_v<In, float>) return f32;
    if constexpr (std::is_same_v<In, double>) return f64;
    if constexpr (std::is_same_v<In, std::uint32_t>) return i32;
    if constexpr (std::is_same_v<In, bfloat16>) return bf16;
    if constexpr (std::is_same_v<In, float16>) return f16;
  }
};

template <class R, class In, class Out>
Launch launch(const Gemm<In, Out>& problem, const GemmPlan& plan) {
  if constexpr (requires { R::template launch<In, Out>(problem, plan); }) {
    return R::template launch<In, Out>(problem, plan);
  } else {
    return R::template launch<In, Out>(problem);
  }
}

template <class R>
constexpr std::span<const std::string_view> tiles() {
  if constexpr (requires { R::tiles; }) {
    return R::tiles;
  } else {
    return {};
  }
}

/// Of a struct with `launch(problem)` or `launch(problem, plan)`, and with `tiles` where they have
/// names.
template <class R>
constexpr GemmRung gemm_rung(std::string_view entry) {
  return {entry,
          launch<R, float, float>,
          launch<R, double, double>,
          launch<R, std::uint32_t, std::uint32_t>,
          launch<R, bfloat16, float>,
          launch<R, float16, float>,
          tiles<R>()};
}

}  // namespace rung::cuda
