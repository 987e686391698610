#pragma once
// Registers a CUDA rung of the dot product. At the end of its file, a rung names a class and the
// element types (of core/element_types.hpp) that it supports:
//
//   RUNG_CUDA_DOT(compensated, Compensated, f32, f64, bf16, f16)
//
// RUNG_CUDA_DOT_AND_SUM also registers it as op sum, with the same kernel over other terms
// (reduce/terms.cuh); list such a rung in ladder/dot/cuda/sums.inc, too.
//
// The class defines THREADS, kernel<Terms, In, Out>(d, to), launch<In, Out>(d, multiprocessors)
// and, if it relies on several resident blocks per SM, MIN_BLOCKS_PER_SM.
//
// The file is compiled twice. On the device, the macro defines one entry per type, named
// dot_cuda_<NN_slug>_<dtype>; on the host, it defines the descriptor dot_cuda_<NN_slug>
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

#define RUNG_DOT_DESCRIPTOR(op, slug, Class, ...)                                     \
  extern const cuda::DotRung op##_cuda_##slug =                                       \
      cuda::dot_rung<Class RUNG_FOR_EACH(RUNG_DTYPE_ARGUMENT, , , , __VA_ARGS__)>(#op \
                                                                                  "_cuda_" #slug);
#define RUNG_DTYPE_ARGUMENT(a, b, c, dtype) , Dtype::dtype

#define RUNG_CUDA_DOT(slug, Class, ...) RUNG_DOT_DESCRIPTOR(dot, slug, Class, __VA_ARGS__)
#define RUNG_CUDA_DOT_AND_SUM(slug, Class, ...)      \
  RUNG_DOT_DESCRIPTOR(dot, slug, Class, __VA_ARGS__) \
  RUNG_DOT_DESCRIPTOR(sum, slug, Class, __VA_ARGS__)

#else

namespace rung::cuda {

/// The minimum number of resident blocks per SM, which limits registers; 0: no minimum.
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

#define RUNG_CUDA_DOT(slug, Class, ...) \
  RUNG_FOR_EACH(RUNG_DOT_ENTRY_OF, dot_cuda_##slug, Class, cuda::ProductTerms, __VA_ARGS__)
#define RUNG_CUDA_DOT_AND_SUM(slug, Class, ...) \
  RUNG_CUDA_DOT(slug, Class, __VA_ARGS__)       \
  RUNG_FOR_EACH(RUNG_DOT_ENTRY_OF, sum_cuda_##slug, Class, cuda::ElementTerms, __VA_ARGS__)

#endif
