#pragma once
// How a CUDA rung of the dot product offers itself: a struct with a block size, a kernel and a
// launch (device/cuda/dot_launch.hpp), all in one file.
//
// The file is compiled twice. For the device, RUNG_CUDA_DOT makes an entry of each type, named
// dot_cuda_<NN_slug>_<dtype>; on the host, the descriptor dot_cuda_<NN_slug>. RUNG_CUDA_DOT_AND_SUM
// does the same for op sum as well, with the same kernel over other terms
// (device/cuda/terms.cuh); such a rung is listed in kernels/dot/cuda/sums.inc too.
// RUNG_CUDA_DOT_OF_FLOATS leaves out integers.

#include <cstdint>

#include "core/problem.hpp"
#include "device/cuda/dot_launch.hpp"
#include "device/cuda/keywords.cuh"
#include "device/cuda/terms.cuh"
#include "device/cuda/tile.cuh"
#include "device/cuda/types.cuh"

#ifdef RUNG_HOST

#include "device/cuda/dot_descriptor.hpp"

#define RUNG_CUDA_DOT_DESCRIPTOR(op, number, slug, Rung)   \
  extern const cuda::DotRung op##_cuda_##number##_##slug = \
      cuda::dot_rung<Rung>(#op "_cuda_" #number "_" #slug);

#define RUNG_CUDA_DOT(number, slug, Rung) RUNG_CUDA_DOT_DESCRIPTOR(dot, number, slug, Rung)
#define RUNG_CUDA_DOT_AND_SUM(number, slug, Rung)   \
  RUNG_CUDA_DOT_DESCRIPTOR(dot, number, slug, Rung) \
  RUNG_CUDA_DOT_DESCRIPTOR(sum, number, slug, Rung)

#define RUNG_CUDA_DOT_OF_FLOATS(number, slug, Rung)       \
  extern const cuda::DotRung dot_cuda_##number##_##slug = \
      cuda::dot_rung_of_floats<Rung>("dot_cuda_" #number "_" #slug);

#else

namespace rung::cuda {

/// How many blocks a multiprocessor must have registers for: a rung that counts on some says so.
template <class Rung>
constexpr int resident_dot_blocks() {
  if constexpr (requires { Rung::RESIDENT; }) {
    return Rung::RESIDENT;
  } else {
    return 0;
  }
}

}  // namespace rung::cuda

#define RUNG_CUDA_DOT_ENTRY(name, Rung, Terms, In, Out)                                            \
  extern "C" __global__ void __launch_bounds__(Rung::THREADS, (cuda::resident_dot_blocks<Rung>())) \
      name(Dot<In> d, cuda::DotTarget to) {                                                        \
    Rung::template kernel<Terms, In, Out>(d, to);                                                  \
  }

#define RUNG_CUDA_DOT_FLOAT_ENTRIES(entry, Rung, Terms)           \
  RUNG_CUDA_DOT_ENTRY(entry##_f32, Rung, Terms, float, float)     \
  RUNG_CUDA_DOT_ENTRY(entry##_f64, Rung, Terms, double, double)   \
  RUNG_CUDA_DOT_ENTRY(entry##_bf16, Rung, Terms, bfloat16, float) \
  RUNG_CUDA_DOT_ENTRY(entry##_f16, Rung, Terms, float16, float)

#define RUNG_CUDA_DOT_ENTRIES(entry, Rung, Terms) \
  RUNG_CUDA_DOT_FLOAT_ENTRIES(entry, Rung, Terms) \
  RUNG_CUDA_DOT_ENTRY(entry##_i32, Rung, Terms, std::uint32_t, std::uint32_t)

#define RUNG_CUDA_DOT(number, slug, Rung) \
  RUNG_CUDA_DOT_ENTRIES(dot_cuda_##number##_##slug, Rung, cuda::ProductTerms)
#define RUNG_CUDA_DOT_OF_FLOATS(number, slug, Rung) \
  RUNG_CUDA_DOT_FLOAT_ENTRIES(dot_cuda_##number##_##slug, Rung, cuda::ProductTerms)
#define RUNG_CUDA_DOT_AND_SUM(number, slug, Rung)                             \
  RUNG_CUDA_DOT_ENTRIES(dot_cuda_##number##_##slug, Rung, cuda::ProductTerms) \
  RUNG_CUDA_DOT_ENTRIES(sum_cuda_##number##_##slug, Rung, cuda::ElementTerms)

#endif
