#pragma once
// How a rung of several tile sizes, with TensorMaps, offers itself for every type that wgmma
// multiplies. It lists its tiles before, as rung.cuh says, in three lists: RUNG_TILES_HALVES for
// bf16 and f16, RUNG_TILES_ROUNDED for the same with results of 16 bits, and RUNG_TILES_ALONG_K for
// the types that are read along k alone.

#include "device/cuda/tensor_rung.cuh"

#ifdef RUNG_HOST

namespace rung::cuda {

/// Tiles, each a class with a shape and a launch. `None` begins the list.
template <class None, class... Tiles>
struct MapTiles {
  template <class In, class Out>
  static constexpr TileShape shapes[] = {Tiles::template shape<In, Out>()...};

  template <class In, class Out>
  static Launch launch(const Gemm<In, Out>& g, const GemmPlan& chosen) {
    constexpr Launch (*launches[])(const Gemm<In, Out>&) = {Tiles::template launch<In, Out>...};
    return launches[chosen.tile](g);
  }
};

template <class Halves, class Rounded, class AlongK>
constexpr GemmRung gemm_rung_of_typed_tiles(std::string_view entry) {
  return {.entry = entry,
          .launches = {.bf16 = Halves::template launch<bfloat16, float>,
                       .f16 = Halves::template launch<float16, float>,
                       .tf32 = AlongK::template launch<tfloat32, float>,
                       .i8 = AlongK::template launch<std::int8_t, std::uint32_t>,
                       .e4m3 = AlongK::template launch<float8_e4m3, float>,
                       .e5m2 = AlongK::template launch<float8_e5m2, float>,
                       .bf16_bf16 = Rounded::template launch<bfloat16, bfloat16>,
                       .f16_f16 = Rounded::template launch<float16, float16>},
          .tiles = {.bf16 = Halves::template shapes<bfloat16, float>,
                    .f16 = Halves::template shapes<float16, float>,
                    .tf32 = AlongK::template shapes<tfloat32, float>,
                    .i8 = AlongK::template shapes<std::int8_t, std::uint32_t>,
                    .e4m3 = AlongK::template shapes<float8_e4m3, float>,
                    .e5m2 = AlongK::template shapes<float8_e5m2, float>,
                    .bf16_bf16 = Rounded::template shapes<bfloat16, bfloat16>,
                    .f16_f16 = Rounded::template shapes<float16, float16>},
          .maps = true};
}

}  // namespace rung::cuda

#define RUNG_CUDA_GEMM_TYPED_TILES(number, slug)                                                 \
  extern const cuda::GemmRung gemm_cuda_##number##_##slug =                                      \
      cuda::gemm_rung_of_typed_tiles<cuda::MapTiles<void RUNG_TILES_HALVES(RUNG_TILE_TYPE, )>,   \
                                     cuda::MapTiles<void RUNG_TILES_ROUNDED(RUNG_TILE_TYPE, )>,  \
                                     cuda::MapTiles<void RUNG_TILES_ALONG_K(RUNG_TILE_TYPE, )>>( \
          "gemm_cuda_" #number "_" #slug);

#else

#define RUNG_TYPED_TILE_ENTRY(name, Tile, In, Out)               \
  extern "C" __global__ void __launch_bounds__(Tile::THREADS, 1) \
      name(Gemm<In, Out> g, cuda::TensorMaps) {                  \
    const cuda::TensorMaps* maps;                                \
    RUNG_SECOND_PARAMETER(name, maps);                           \
    Tile::template kernel<In, Out>(g, *maps);                    \
  }

#define RUNG_TILE_OF_BF16(entry, index, Tile) \
  RUNG_TYPED_TILE_ENTRY(entry##_bf16_##index, Tile, bfloat16, float)
#define RUNG_TILE_OF_F16(entry, index, Tile) \
  RUNG_TYPED_TILE_ENTRY(entry##_f16_##index, Tile, float16, float)
#define RUNG_TILE_OF_BF16_BF16(entry, index, Tile) \
  RUNG_TYPED_TILE_ENTRY(entry##_bf16_bf16_##index, Tile, bfloat16, bfloat16)
#define RUNG_TILE_OF_F16_F16(entry, index, Tile) \
  RUNG_TYPED_TILE_ENTRY(entry##_f16_f16_##index, Tile, float16, float16)
#define RUNG_TILE_OF_TF32(entry, index, Tile) \
  RUNG_TYPED_TILE_ENTRY(entry##_tf32_##index, Tile, tfloat32, float)
#define RUNG_TILE_OF_I8(entry, index, Tile) \
  RUNG_TYPED_TILE_ENTRY(entry##_i8_##index, Tile, std::int8_t, std::uint32_t)
#define RUNG_TILE_OF_E4M3(entry, index, Tile) \
  RUNG_TYPED_TILE_ENTRY(entry##_e4m3_##index, Tile, float8_e4m3, float)
#define RUNG_TILE_OF_E5M2(entry, index, Tile) \
  RUNG_TYPED_TILE_ENTRY(entry##_e5m2_##index, Tile, float8_e5m2, float)

#define RUNG_CUDA_GEMM_TYPED_TILES(number, slug)                          \
  RUNG_TILES_HALVES(RUNG_TILE_OF_BF16, gemm_cuda_##number##_##slug)       \
  RUNG_TILES_HALVES(RUNG_TILE_OF_F16, gemm_cuda_##number##_##slug)        \
  RUNG_TILES_ROUNDED(RUNG_TILE_OF_BF16_BF16, gemm_cuda_##number##_##slug) \
  RUNG_TILES_ROUNDED(RUNG_TILE_OF_F16_F16, gemm_cuda_##number##_##slug)   \
  RUNG_TILES_ALONG_K(RUNG_TILE_OF_TF32, gemm_cuda_##number##_##slug)      \
  RUNG_TILES_ALONG_K(RUNG_TILE_OF_I8, gemm_cuda_##number##_##slug)        \
  RUNG_TILES_ALONG_K(RUNG_TILE_OF_E4M3, gemm_cuda_##number##_##slug)      \
  RUNG_TILES_ALONG_K(RUNG_TILE_OF_E5M2, gemm_cuda_##number##_##slug)

#endif
