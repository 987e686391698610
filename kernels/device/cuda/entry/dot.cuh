#pragma once
// How a CUDA rung of the dot product offers itself. At the end of its file it names a class and the
// element types (of core/element_types.hpp) that the class sums:
//
//   RUNG_CUDA_DOT(11, compensated, Compensated, f32, f64, bf16, f16)
//
// RUNG_CUDA_DOT_AND_SUM offers it as op sum as well, with the same kernel over other terms
// (reduce/terms.cuh); such a rung is listed in kernels/dot/cuda/sums.inc too.
//
// The class has THREADS, kernel<Terms, In, Out>(d, to), launch<In, Out>(d, multiprocessors), and if
// it counts on several blocks on an SM, MIN_BLOCKS_PER_SM.
//
// The file is compiled twice. On the device the macro makes an entry for each type, named
// dot_cuda_<NN_slug>_<dtype>; on the host it makes the descriptor dot_cuda_<NN_slug>
// (entry/dot_descriptor.hpp).

#include <cstdint>

#include "core/element_types.hpp"
#include "core/problem.hpp"
#include "device/cuda/entry/dot_launch.hpp"
#include "device/cuda/entry/for_each.hpp"
#include "device/cuda/keywords.cuh"
#include "device/cuda/reduce/terms.cuh"
#include "device/cuda/tile/tile_coord.cuh"
#include "device/cuda/types.cuh"

#ifdef RUNG_HOST

#include "device/cuda/entry/dot_descriptor.hpp"

#define RUNG_DOT_DESCRIPTOR(op, number, slug, Class, ...)                          \
  extern const cuda::DotRung op##_cuda_##number##_##slug =                         \
      cuda::dot_rung<Class RUNG_FOR_EACH(RUNG_DTYPE_ARGUMENT, , , , __VA_ARGS__)>( \
          #op "_cuda_" #number "_" #slug);
#define RUNG_DTYPE_ARGUMENT(a, b, c, dtype) , Dtype::dtype

#define RUNG_CUDA_DOT(number, slug, Class, ...) \
  RUNG_DOT_DESCRIPTOR(dot, number, slug, Class, __VA_ARGS__)
#define RUNG_CUDA_DOT_AND_SUM(number, slug, Class, ...)      \
  RUNG_DOT_DESCRIPTOR(dot, number, slug, Class, __VA_ARGS__) \
  RUNG_DOT_DESCRIPTOR(sum, number, slug, Class, __VA_ARGS__)

#else

namespace rung::cuda {

/// How many blocks must fit an SM at a time, which limits registers; 0: any number.
template <class Class>
constexpr int min_dot_blocks_per_sm() {
  if constexpr (requires { Class::MIN_BLOCKS_PER_SM; }) {
    return Class::MIN_BLOCKS_PER_SM;
  } else {
    return 0;
  }
}

}  // namespace rung::cuda

#define RUNG_DOT_ENTRY(entry, Class, Terms, Types)                                     \
  extern "C" __global__ void __launch_bounds__(Class::THREADS,                         \
                                               (cuda::min_dot_blocks_per_sm<Class>())) \
      entry(Dot<Types::In> d, cuda::DotTarget to) {                                    \
    Class::template kernel<Terms, Types::In, Types::Out>(d, to);                       \
  }
#define RUNG_DOT_ENTRY_OF(prefix, Class, Terms, dtype) \
  RUNG_DOT_ENTRY(prefix##_##dtype, Class, Terms, ElementsOf<Dtype::dtype>)

#define RUNG_CUDA_DOT(number, slug, Class, ...)                                           \
  RUNG_FOR_EACH(RUNG_DOT_ENTRY_OF, dot_cuda_##number##_##slug, Class, cuda::ProductTerms, \
                __VA_ARGS__)
#define RUNG_CUDA_DOT_AND_SUM(number, slug, Class, ...)                                   \
  RUNG_CUDA_DOT(number, slug, Class, __VA_ARGS__)                                         \
  RUNG_FOR_EACH(RUNG_DOT_ENTRY_OF, sum_cuda_##number##_##slug, Class, cuda::ElementTerms, \
                __VA_ARGS__)

#endif
