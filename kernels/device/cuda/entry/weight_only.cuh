#pragma once
// Registers a rung that multiplies by packed weights. At the end of its file, a rung names its
// tiles: classes with an index that counts from 0 and with kernel(args, maps), THREADS,
// MIN_BLOCKS_PER_SM and shape(). Entries for bfloat16 and float16 are named as in entry/gemm.cuh.
// The rung does not compute plain products: the library launches it with WeightOnlyArgs.

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/entry/weight_only.hpp"

#ifdef RUNG_HOST

#define RUNG_WEIGHT_ONLY_TILES(slug, ...)                        \
  static constexpr cuda::TileShape weight_only_shapes[] = {      \
      RUNG_FOR_EACH_ROW(RUNG_WEIGHT_ONLY_SHAPE, , __VA_ARGS__)}; \
  extern const cuda::GemmRung gemm_cuda_##slug = {               \
      .entry = "gemm_cuda_" #slug,                               \
      .launches = {},                                            \
      .tiles = {.bf16 = weight_only_shapes, .f16 = weight_only_shapes}};
#define RUNG_WEIGHT_ONLY_SHAPE(unused, index, Class) Class::shape(),

#else

#define RUNG_WEIGHT_ONLY_ENTRY(entry, Class, In)                                         \
  extern "C" __global__ void __launch_bounds__(Class::THREADS, Class::MIN_BLOCKS_PER_SM) \
      entry(cuda::WeightOnlyArgs<In> args) {                                             \
    const cuda::TensorMaps* maps = nullptr;                                              \
    RUNG_TENSOR_MAPS_OF(entry, maps);                                                    \
    Class::kernel(args, *maps);                                                          \
  }
#define RUNG_WEIGHT_ONLY_TILE(prefix, index, Class)                                     \
  RUNG_ENTRIES_OF(bf16, RUNG_WEIGHT_ONLY_ENTRY(prefix##_bf16_##index, Class, bfloat16)) \
  RUNG_ENTRIES_OF(f16, RUNG_WEIGHT_ONLY_ENTRY(prefix##_f16_##index, Class, float16))
#define RUNG_WEIGHT_ONLY_TILES(slug, ...) \
  RUNG_FOR_EACH_ROW(RUNG_WEIGHT_ONLY_TILE, gemm_cuda_##slug, __VA_ARGS__)

#endif
