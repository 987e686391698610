#pragma once
// How a rung of several tile sizes, with TensorMaps, offers itself. It lists its tiles before, as
// rung.cuh says: RUNG_TILES_HALVES for bf16 and f16, and a rung for every type that wgmma
// multiplies also RUNG_TILES_PROMOTED, for those of promoted_sums.cuh, and RUNG_TILES_OTHERS.

#include "device/cuda/tensor_rung.cuh"

#ifdef RUNG_HOST

namespace rung::cuda {

/// Tiles, each a class with a shape and a launch for a plan. `None` begins the list.
template <class None, class... Tiles>
struct MapTiles {
  template <class In, class Out>
  static constexpr TileShape shapes[] = {Tiles::template shape<In, Out>()...};

  template <class In, class Out>
  static Launch launch(const Gemm<In, Out>& g, const GemmPlan& chosen) {
    constexpr Launch (*launches[])(const Gemm<In, Out>&,
                                   const GemmPlan&) = {Tiles::template launch<In, Out>...};
    return launches[chosen.tile](g, chosen);
  }
};

template <class Halves>
constexpr GemmRung gemm_rung_of_map_tiles(std::string_view entry, bool splits) {
  return {.entry = entry,
          .launches = {.bf16 = Halves::template launch<bfloat16, float>,
                       .f16 = Halves::template launch<float16, float>},
          .tiles = {.bf16 = Halves::template shapes<bfloat16, float>,
                    .f16 = Halves::template shapes<float16, float>},
          .splits = splits,
          .maps = true};
}

template <class Halves, class Promoted, class Others>
constexpr GemmRung gemm_rung_of_typed_tiles(std::string_view entry, bool splits) {
  GemmRung rung = gemm_rung_of_map_tiles<Halves>(entry, splits);
  rung.launches.tf32 = Others::template launch<tfloat32, float>;
  rung.launches.i8 = Others::template launch<std::int8_t, std::uint32_t>;
  rung.launches.e4m3 = Promoted::template launch<float8_e4m3, float>;
  rung.launches.e5m2 = Promoted::template launch<float8_e5m2, float>;
  rung.launches.bf16_bf16 = Others::template launch<bfloat16, bfloat16>;
  rung.launches.f16_f16 = Others::template launch<float16, float16>;
  rung.tiles.tf32 = Others::template shapes<tfloat32, float>;
  rung.tiles.i8 = Others::template shapes<std::int8_t, std::uint32_t>;
  rung.tiles.e4m3 = Promoted::template shapes<float8_e4m3, float>;
  rung.tiles.e5m2 = Promoted::template shapes<float8_e5m2, float>;
  rung.tiles.bf16_bf16 = Others::template shapes<bfloat16, bfloat16>;
  rung.tiles.f16_f16 = Others::template shapes<float16, float16>;
  return rung;
}

}  // namespace rung::cuda

#define RUNG_MAP_TILES(TILES) cuda::MapTiles<void TILES(RUNG_TILE_TYPE, )>

#define RUNG_CUDA_GEMM_MAP_TILES(number, slug)                         \
  extern const cuda::GemmRung gemm_cuda_##number##_##slug =            \
      cuda::gemm_rung_of_map_tiles<RUNG_MAP_TILES(RUNG_TILES_HALVES)>( \
          "gemm_cuda_" #number "_" #slug, false);

#define RUNG_CUDA_GEMM_SPLIT_MAP_TILES(number, slug)                   \
  extern const cuda::GemmRung gemm_cuda_##number##_##slug =            \
      cuda::gemm_rung_of_map_tiles<RUNG_MAP_TILES(RUNG_TILES_HALVES)>( \
          "gemm_cuda_" #number "_" #slug, true);

#define RUNG_CUDA_GEMM_SPLIT_TYPED_TILES(number, slug)                    \
  extern const cuda::GemmRung gemm_cuda_##number##_##slug =               \
      cuda::gemm_rung_of_typed_tiles<RUNG_MAP_TILES(RUNG_TILES_HALVES),   \
                                     RUNG_MAP_TILES(RUNG_TILES_PROMOTED), \
                                     RUNG_MAP_TILES(RUNG_TILES_OTHERS)>(  \
          "gemm_cuda_" #number "_" #slug, true);

#else

#define RUNG_MAP_TILE_ENTRY(name, Tile, In)                      \
  extern "C" __global__ void __launch_bounds__(Tile::THREADS, 1) \
      name(Gemm<In, float> g, cuda::TensorMaps) {                \
    const cuda::TensorMaps* maps;                                \
    RUNG_SECOND_PARAMETER(name, maps);                           \
    Tile::template kernel<In, float>(g, *maps);                  \
  }
#define RUNG_MAP_TILE_BF16(entry, index, Tile) \
  RUNG_MAP_TILE_ENTRY(entry##_bf16_##index, Tile, bfloat16)
#define RUNG_MAP_TILE_F16(entry, index, Tile) \
  RUNG_MAP_TILE_ENTRY(entry##_f16_##index, Tile, float16)

#define RUNG_CUDA_GEMM_MAP_TILES(number, slug)                       \
  RUNG_TILES_HALVES(RUNG_MAP_TILE_BF16, gemm_cuda_##number##_##slug) \
  RUNG_TILES_HALVES(RUNG_MAP_TILE_F16, gemm_cuda_##number##_##slug)

#define RUNG_SPLIT_MAP_TILE_ENTRY(name, Tile, In, Out)             \
  extern "C" __global__ void __launch_bounds__(Tile::THREADS, 1)   \
      name(Gemm<In, Out> g, cuda::TensorMaps, cuda::Split split) { \
    const cuda::TensorMaps* maps;                                  \
    RUNG_SECOND_PARAMETER(name, maps);                             \
    Tile::template kernel<In, Out>(g, *maps, split);               \
  }
#define RUNG_SPLIT_MAP_TILE_BF16(entry, index, Tile) \
  RUNG_SPLIT_MAP_TILE_ENTRY(entry##_bf16_##index, Tile, bfloat16, float)
#define RUNG_SPLIT_MAP_TILE_F16(entry, index, Tile) \
  RUNG_SPLIT_MAP_TILE_ENTRY(entry##_f16_##index, Tile, float16, float)
#define RUNG_SPLIT_MAP_TILE_BF16_BF16(entry, index, Tile) \
  RUNG_SPLIT_MAP_TILE_ENTRY(entry##_bf16_bf16_##index, Tile, bfloat16, bfloat16)
#define RUNG_SPLIT_MAP_TILE_F16_F16(entry, index, Tile) \
  RUNG_SPLIT_MAP_TILE_ENTRY(entry##_f16_f16_##index, Tile, float16, float16)
#define RUNG_SPLIT_MAP_TILE_TF32(entry, index, Tile) \
  RUNG_SPLIT_MAP_TILE_ENTRY(entry##_tf32_##index, Tile, tfloat32, float)
#define RUNG_SPLIT_MAP_TILE_I8(entry, index, Tile) \
  RUNG_SPLIT_MAP_TILE_ENTRY(entry##_i8_##index, Tile, std::int8_t, std::uint32_t)
#define RUNG_SPLIT_MAP_TILE_E4M3(entry, index, Tile) \
  RUNG_SPLIT_MAP_TILE_ENTRY(entry##_e4m3_##index, Tile, float8_e4m3, float)
#define RUNG_SPLIT_MAP_TILE_E5M2(entry, index, Tile) \
  RUNG_SPLIT_MAP_TILE_ENTRY(entry##_e5m2_##index, Tile, float8_e5m2, float)

#define RUNG_CUDA_GEMM_SPLIT_MAP_TILES(number, slug)                                              \
  RUNG_ENTRIES_OF(bf16, RUNG_TILES_HALVES(RUNG_SPLIT_MAP_TILE_BF16, gemm_cuda_##number##_##slug)) \
  RUNG_ENTRIES_OF(f16, RUNG_TILES_HALVES(RUNG_SPLIT_MAP_TILE_F16, gemm_cuda_##number##_##slug))

#define RUNG_CUDA_GEMM_SPLIT_TYPED_TILES(number, slug)                                            \
  RUNG_CUDA_GEMM_SPLIT_MAP_TILES(number, slug)                                                    \
  RUNG_ENTRIES_OF(bf16_bf16,                                                                      \
                  RUNG_TILES_OTHERS(RUNG_SPLIT_MAP_TILE_BF16_BF16, gemm_cuda_##number##_##slug))  \
  RUNG_ENTRIES_OF(f16_f16,                                                                        \
                  RUNG_TILES_OTHERS(RUNG_SPLIT_MAP_TILE_F16_F16, gemm_cuda_##number##_##slug))    \
  RUNG_ENTRIES_OF(tf32, RUNG_TILES_OTHERS(RUNG_SPLIT_MAP_TILE_TF32, gemm_cuda_##number##_##slug)) \
  RUNG_ENTRIES_OF(i8, RUNG_TILES_OTHERS(RUNG_SPLIT_MAP_TILE_I8, gemm_cuda_##number##_##slug))     \
  RUNG_ENTRIES_OF(e4m3,                                                                           \
                  RUNG_TILES_PROMOTED(RUNG_SPLIT_MAP_TILE_E4M3, gemm_cuda_##number##_##slug))     \
  RUNG_ENTRIES_OF(e5m2, RUNG_TILES_PROMOTED(RUNG_SPLIT_MAP_TILE_E5M2, gemm_cuda_##number##_##slug))

#endif
