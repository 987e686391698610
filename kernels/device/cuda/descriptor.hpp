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

/// For which blocks, threads and memory a problem asks; the pointers in it are the device's.
template <class In, class Out>
using GemmLaunch = Launch (*)(const Gemm<In, Out>& problem, const GemmPlan& plan);

/// One value for each type of a rung.
template <template <class In, class Out> class Value>
struct OfGemmTypes {
  Value<float, float> f32 = {};
  Value<double, double> f64 = {};
  Value<std::uint32_t, std::uint32_t> i32 = {};
  Value<bfloat16, float> bf16 = {};
  Value<float16, float> f16 = {};
  Value<tfloat32, float> tf32 = {};
  Value<std::int8_t, std::uint32_t> i8 = {};
  Value<float8_e4m3, float> e4m3 = {};
  Value<float8_e5m2, float> e5m2 = {};
  Value<bfloat16, bfloat16> bf16_bf16 = {};
  Value<float16, float16> f16_f16 = {};

  /// Out: as dtype_of() has it.
  template <class In, class Out = void>
  auto of() const {
    if constexpr (std::is_same_v<In, float>) return f32;
    if constexpr (std::is_same_v<In, double>) return f64;
    if constexpr (std::is_same_v<In, std::uint32_t>) return i32;
    if constexpr (std::is_same_v<In, tfloat32>) return tf32;
    if constexpr (std::is_same_v<In, std::int8_t>) return i8;
    if constexpr (std::is_same_v<In, float8_e4m3>) return e4m3;
    if constexpr (std::is_same_v<In, float8_e5m2>) return e5m2;
    if constexpr (std::is_same_v<In, bfloat16>) {
      if constexpr (std::is_same_v<Out, bfloat16>) {
        return bf16_bf16;
      } else {
        return bf16;
      }
    }
    if constexpr (std::is_same_v<In, float16>) {
      if constexpr (std::is_same_v<Out, float16>) {
        return f16_f16;
      } else {
        return f16;
      }
    }
  }
};

template <class In, class Out>
using TileShapes = std::span<const TileShape>;

/// One gemm rung. A type's entry is `<entry>_<dtype>`, that of tile i `<entry>_<dtype>_<i>`.
struct GemmRung {
  std::string_view entry;
  OfGemmTypes<GemmLaunch> launches;  // null for a type that the rung has not
  OfGemmTypes<TileShapes> tiles;     // empty for a rung of one size
  bool splits = false;               // whether its kernel takes a Split after the problem
  bool maps = false;                 // whether its kernel takes TensorMaps after the problem
  Tiling tiling = {};                // of a rung of one size
};

/// What a rung's class says of its tile, by the names of its constants.
template <class R>
constexpr Tiling tiling_of() {
  Tiling tiling;
  if constexpr (requires { R::BM; }) tiling.BM = R::BM, tiling.BN = R::BN;
  if constexpr (requires { R::BK; }) tiling.BK = R::BK;
  if constexpr (requires { R::WM; }) tiling.WM = R::WM, tiling.WN = R::WN;
  if constexpr (requires { R::TM; }) tiling.TM = R::TM;
  if constexpr (requires { R::TN; }) tiling.TN = R::TN;
  return tiling;
}

/// A rung of one tile size, for every type that CUDA cores multiply.
template <class R>
constexpr GemmRung gemm_rung(std::string_view entry) {
  constexpr auto launch = [](const auto& g, const GemmPlan&) { return R::launch(g); };
  return {.entry = entry,
          .launches = {launch, launch, launch, launch, launch},
          .tiles = {},
          .tiling = tiling_of<R>()};
}

/// The same for operands of every type that results have.
template <class R>
constexpr GemmRung gemm_rung_of_results(std::string_view entry) {
  constexpr auto launch = [](const auto& g, const GemmPlan&) { return R::launch(g); };
  return {.entry = entry,
          .launches =
              {.f32 = launch, .f64 = launch, .i32 = launch, .bf16_bf16 = launch, .f16_f16 = launch},
          .tiles = {}};
}

/// The same whose kernel has one type for all operands, of at least 4 bytes.
template <class R>
constexpr GemmRung gemm_rung_of_words(std::string_view entry) {
  constexpr auto launch = [](const auto& g, const GemmPlan&) { return R::launch(g); };
  return {
      .entry = entry, .launches = {launch, launch, launch}, .tiles = {}, .tiling = tiling_of<R>()};
}

/// The tiles of one type, each a class with a shape and a launch.
template <class T, class... Tiles>
struct TileList {
  static constexpr TileShape shapes[] = {Tiles::template shape<T>()...};

  static Launch launch(const Gemm<T, T>& g, const GemmPlan& chosen) {
    constexpr Launch (*launches[])(const Gemm<T, T>&,
                                   const GemmPlan&) = {Tiles::template launch<T>...};
    return launches[chosen.tile](g, chosen);
  }
};

/// A rung of several tile sizes.
template <class F32, class F64, class I32>
constexpr GemmRung tiled_gemm_rung(std::string_view entry, bool splits) {
  return {.entry = entry,
          .launches = {F32::launch, F64::launch, I32::launch},
          .tiles = {F32::shapes, F64::shapes, I32::shapes},
          .splits = splits};
}

}  // namespace rung::cuda
