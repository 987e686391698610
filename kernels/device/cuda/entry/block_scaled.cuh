#pragma once
// Registration macros of rungs for block-scaled operands: like entry/gemm.cuh, but the kernel also
// takes BlockScales: kernel(g, maps, products, scales). If the rung is launched like any other, all
// scales are 1.

#include "device/cuda/entry/block_scaled.hpp"
#include "device/cuda/entry/gemm.cuh"

#ifdef RUNG_HOST

#define RUNG_BLOCK_SCALED_TILES(slug, ...) RUNG_CUDA_GEMM_TILES(slug, __VA_ARGS__)

#else

#define RUNG_BLOCK_SCALED_ENTRY(entry, Class)                                 \
  extern "C" __global__ void __launch_bounds__(Class::THREADS, 1)             \
      entry(cuda::BlockScaledArgs args) {                                     \
    const cuda::TensorMaps* maps = nullptr;                                   \
    RUNG_TENSOR_MAPS_OF(entry, maps);                                         \
    Class::kernel(args.gemm.problem, *maps, args.gemm.products, args.scales); \
  }
#define RUNG_BLOCK_SCALED_ENTRY_OF(prefix, Class, suffix, dtype) \
  RUNG_ENTRIES_OF(dtype, RUNG_BLOCK_SCALED_ENTRY(prefix##_##dtype##suffix, Class))
#define RUNG_BLOCK_SCALED_TILE(prefix, index, Class, ...) \
  RUNG_FOR_EACH(RUNG_BLOCK_SCALED_ENTRY_OF, prefix, Class, _##index, __VA_ARGS__)
#define RUNG_BLOCK_SCALED_TILES(slug, ...) \
  RUNG_FOR_EACH_ROW(RUNG_BLOCK_SCALED_TILE, gemm_cuda_##slug, __VA_ARGS__)

#endif
