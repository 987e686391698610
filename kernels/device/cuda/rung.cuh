#pragma once
// How a CUDA rung offers itself: a struct with a block size, a kernel and a launch, all in one
// file. The file is compiled twice. For the device, RUNG_CUDA_GEMM makes an entry of each type,
// named gemm_cuda_<NN_slug>_<dtype>; on the host, the descriptor gemm_cuda_<NN_slug>. A rung for
// elements of 4 and 8 bytes alone, whose kernel has one type for all, is a RUNG_CUDA_GEMM_WORDS.

#include <cstdint>

#include "core/problem.hpp"
#include "device/cuda/keywords.cuh"
#include "device/cuda/launch.hpp"
#include "device/cuda/tile.cuh"
#include "device/cuda/types.cuh"

#ifdef RUNG_HOST

#include "device/cuda/descriptor.hpp"

#define RUNG_CUDA_GEMM(number, slug, Rung)                  \
  extern const cuda::GemmRung gemm_cuda_##number##_##slug = \
      cuda::gemm_rung<Rung>("gemm_cuda_" #number "_" #slug);

#define RUNG_CUDA_GEMM_WORDS(number, slug, Rung)            \
  extern const cuda::GemmRung gemm_cuda_##number##_##slug = \
      cuda::gemm_rung_of_words<Rung>("gemm_cuda_" #number "_" #slug);

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

#endif
