#pragma once
// How a CUDA rung offers itself: a struct with a block size, a kernel and a launch, all in one
// file. The file is compiled twice. For the device, RUNG_CUDA_GEMM makes an entry of each type,
// named gemm_cuda_<NN_slug>_<dtype>; on the host, the descriptor gemm_cuda_<NN_slug>. A rung for
// elements of 4 and 8 bytes alone, whose kernel has one type for all, is a RUNG_CUDA_GEMM_WORDS;
// one of several tile sizes is a RUNG_CUDA_GEMM_TILES, and lists them before as
// RUNG_TILES_<dtype>(TILE, entry): TILE(entry, 0, Class) TILE(entry, 1, Class) ….

#include <cstdint>

#include "core/problem.hpp"
#include "device/cuda/keywords.cuh"
#include "device/cuda/launch.hpp"
#include "device/cuda/tile.cuh"
#include "device/cuda/types.cuh"
#include "device/cuda/unit.cuh"

#ifdef RUNG_HOST

#include "device/cuda/descriptor.hpp"

#define RUNG_CUDA_GEMM(number, slug, Rung)                  \
  extern const cuda::GemmRung gemm_cuda_##number##_##slug = \
      cuda::gemm_rung<Rung>("gemm_cuda_" #number "_" #slug);

#define RUNG_CUDA_GEMM_WORDS(number, slug, Rung)            \
  extern const cuda::GemmRung gemm_cuda_##number##_##slug = \
      cuda::gemm_rung_of_words<Rung>("gemm_cuda_" #number "_" #slug);

#define RUNG_TILE_TYPE(entry, index, Tile) , Tile
#define RUNG_CUDA_GEMM_TILES_DESCRIPTOR(number, slug, splits)                                \
  extern const cuda::GemmRung gemm_cuda_##number##_##slug =                                  \
      cuda::tiled_gemm_rung<cuda::TileList<float RUNG_TILES_F32(RUNG_TILE_TYPE, )>,          \
                            cuda::TileList<double RUNG_TILES_F64(RUNG_TILE_TYPE, )>,         \
                            cuda::TileList<std::uint32_t RUNG_TILES_I32(RUNG_TILE_TYPE, )>>( \
          "gemm_cuda_" #number "_" #slug, splits);

#define RUNG_CUDA_GEMM_TILES(number, slug) RUNG_CUDA_GEMM_TILES_DESCRIPTOR(number, slug, false)
#define RUNG_CUDA_GEMM_SPLIT_TILES(number, slug) RUNG_CUDA_GEMM_TILES_DESCRIPTOR(number, slug, true)

#else

namespace rung::cuda {

/// How many blocks a multiprocessor must have registers for: two hide each other's stalls. Tiles of
/// 8-byte results take too many for that.
template <class Rung, class Out>
inline constexpr int resident_blocks = Rung::block.count() <= 256 && sizeof(Out) < 8 ? 2 : 0;

}  // namespace rung::cuda

#define RUNG_CUDA_GEMM_ENTRY(name, Rung, In, Out)                                      \
  extern "C" __global__ void __launch_bounds__(                                        \
      Rung::block.count(), (cuda::resident_blocks<Rung, Out>)) name(Gemm<In, Out> g) { \
    Rung::template kernel<In, Out>(g);                                                 \
  }

#define RUNG_CUDA_GEMM(number, slug, Rung)                                                    \
  RUNG_CUDA_GEMM_ENTRY(gemm_cuda_##number##_##slug##_f32, Rung, float, float)                 \
  RUNG_CUDA_GEMM_ENTRY(gemm_cuda_##number##_##slug##_f64, Rung, double, double)               \
  RUNG_CUDA_GEMM_ENTRY(gemm_cuda_##number##_##slug##_i32, Rung, std::uint32_t, std::uint32_t) \
  RUNG_CUDA_GEMM_ENTRY(gemm_cuda_##number##_##slug##_bf16, Rung, bfloat16, float)             \
  RUNG_CUDA_GEMM_ENTRY(gemm_cuda_##number##_##slug##_f16, Rung, float16, float)

#define RUNG_CUDA_GEMM_WORD_ENTRY(name, Rung, T)                                  \
  extern "C" __global__ void __launch_bounds__(                                   \
      Rung::block.count(), (cuda::resident_blocks<Rung, T>)) name(Gemm<T, T> g) { \
    Rung::template kernel<T>(g);                                                  \
  }

#define RUNG_CUDA_GEMM_WORDS(number, slug, Rung)                             \
  RUNG_CUDA_GEMM_WORD_ENTRY(gemm_cuda_##number##_##slug##_f32, Rung, float)  \
  RUNG_CUDA_GEMM_WORD_ENTRY(gemm_cuda_##number##_##slug##_f64, Rung, double) \
  RUNG_CUDA_GEMM_WORD_ENTRY(gemm_cuda_##number##_##slug##_i32, Rung, std::uint32_t)

#define RUNG_TILE_ENTRY(name, Tile, T)                                                \
  extern "C" __global__ void __launch_bounds__(Tile::THREADS, 1) name(Gemm<T, T> g) { \
    Tile::template kernel<T>(g);                                                      \
  }
#define RUNG_SPLIT_TILE_ENTRY(name, Tile, T)                     \
  extern "C" __global__ void __launch_bounds__(Tile::THREADS, 1) \
      name(Gemm<T, T> g, cuda::Split split) {                    \
    Tile::template kernel<T>(g, split);                          \
  }

#define RUNG_TILE_F32(entry, index, Tile) RUNG_TILE_ENTRY(entry##_f32_##index, Tile, float)
#define RUNG_TILE_F64(entry, index, Tile) RUNG_TILE_ENTRY(entry##_f64_##index, Tile, double)
#define RUNG_TILE_I32(entry, index, Tile) RUNG_TILE_ENTRY(entry##_i32_##index, Tile, std::uint32_t)
#define RUNG_CUDA_GEMM_TILES(number, slug)                                         \
  RUNG_ENTRIES_OF(f32, RUNG_TILES_F32(RUNG_TILE_F32, gemm_cuda_##number##_##slug)) \
  RUNG_ENTRIES_OF(f64, RUNG_TILES_F64(RUNG_TILE_F64, gemm_cuda_##number##_##slug)) \
  RUNG_ENTRIES_OF(i32, RUNG_TILES_I32(RUNG_TILE_I32, gemm_cuda_##number##_##slug))

#define RUNG_SPLIT_TILE_F32(entry, index, Tile) \
  RUNG_SPLIT_TILE_ENTRY(entry##_f32_##index, Tile, float)
#define RUNG_SPLIT_TILE_F64(entry, index, Tile) \
  RUNG_SPLIT_TILE_ENTRY(entry##_f64_##index, Tile, double)
#define RUNG_SPLIT_TILE_I32(entry, index, Tile) \
  RUNG_SPLIT_TILE_ENTRY(entry##_i32_##index, Tile, std::uint32_t)
#define RUNG_CUDA_GEMM_SPLIT_TILES(number, slug)                                         \
  RUNG_ENTRIES_OF(f32, RUNG_TILES_F32(RUNG_SPLIT_TILE_F32, gemm_cuda_##number##_##slug)) \
  RUNG_ENTRIES_OF(f64, RUNG_TILES_F64(RUNG_SPLIT_TILE_F64, gemm_cuda_##number##_##slug)) \
  RUNG_ENTRIES_OF(i32, RUNG_TILES_I32(RUNG_SPLIT_TILE_I32, gemm_cuda_##number##_##slug))

#endif
