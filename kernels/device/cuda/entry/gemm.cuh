#pragma once
// Registers a CUDA rung of gemm. At the end of its file, a rung names a class and the element types
// (of core/element_types.hpp) that it supports:
//
//   RUNG_CUDA_GEMM(00_naive, Naive, f32, f64, i32, bf16, f16)
//
// or several tile sizes, each with an index that counts from 0 for each type:
//
//   RUNG_CUDA_GEMM_TILES(10_tuned_tiles, (0, Large, f32), (1, Small, f32), (0, Small, f64))
//
// The class defines
//   - `block`, a Dim3, or THREADS;
//   - kernel(g), kernel(g, split), kernel(g, maps), kernel(g, maps, split),
//     kernel(g, maps, split, scales), kernel(g, products) or kernel(g, maps, products), for a Gemm,
//     a SplitK, TensorMaps, OperandScales and Products; the host passes what the signature
//     requests;
//   - a type RaggedGroups, if it computes groups given by offsets in device memory;
//   - launch(g), or launch(g, config) if it has configurations;
//   - shape<In, Out>(), a TileShape, if it is one of several tiles;
//   - MIN_BLOCKS_PER_SM, if it relies on a number of resident blocks per SM.
//
// The file is compiled twice. On the device, the macro defines one entry per type and tile, named
// gemm_cuda_<NN_slug>_<dtype> or gemm_cuda_<NN_slug>_<dtype>_<tile>; on the host, it defines the
// descriptor gemm_cuda_<NN_slug> (entry/gemm_descriptor.hpp).

#include "core/element_types.hpp"
#include "core/problem.hpp"
#include "device/cuda/entry/for_each.hpp"
#include "device/cuda/entry/launch.hpp"
#include "device/cuda/entry/unit.cuh"
#include "device/cuda/keywords.cuh"
#include "device/cuda/tile/tile_coord.cuh"
#include "device/cuda/types.cuh"

#ifdef RUNG_HOST

#include "device/cuda/entry/gemm_descriptor.hpp"

#define RUNG_CUDA_GEMM(slug, Class, ...)         \
  extern const cuda::GemmRung gemm_cuda_##slug = \
      cuda::gemm_rung<Class RUNG_DTYPE_ARGUMENTS(__VA_ARGS__)>("gemm_cuda_" #slug);

#define RUNG_CUDA_GEMM_TILES(slug, ...)          \
  extern const cuda::GemmRung gemm_cuda_##slug = \
      cuda::tiled_gemm_rung("gemm_cuda_" #slug RUNG_FOR_EACH_ROW(RUNG_TILE_ROW, , __VA_ARGS__));

#define RUNG_TILE_ROW(unused, index, Class, ...) \
  , cuda::TileRow<index, Class RUNG_DTYPE_ARGUMENTS(__VA_ARGS__)> {}
#define RUNG_DTYPE_ARGUMENTS(...) RUNG_FOR_EACH(RUNG_DTYPE_ARGUMENT, , , , __VA_ARGS__)
#define RUNG_DTYPE_ARGUMENT(a, b, c, dtype) , Dtype::dtype

#else

namespace rung::cuda {

/// The number of threads per block.
template <class Class>
constexpr int threads_of() {
  if constexpr (requires { Class::block; }) {
    return Class::block.count();
  } else {
    return Class::THREADS;
  }
}

/// The minimum number of resident blocks per SM, which limits registers; 0: no minimum. The default
/// is two blocks, which hide each other's stalls, or 0 if 8-byte results need too many registers
/// for that.
template <class Class, class Out>
constexpr int min_blocks_per_sm() {
  if constexpr (requires { Class::MIN_BLOCKS_PER_SM; }) {
    return Class::MIN_BLOCKS_PER_SM;
  } else {
    return threads_of<Class>() <= 256 && sizeof(Out) < 8 ? 2 : 0;
  }
}

template <bool IS_PLAIN, class In, class Out>
struct ParameterOf {
  using type = Gemm<In, Out>;
};
template <class In, class Out>
struct ParameterOf<false, In, Out> {
  using type = KernelArgs<In, Out>;
};

/// The type of a kernel's only parameter.
template <class Class, class In, class Out>
using Parameter =
    typename ParameterOf<!takes_split_k<Class, In, Out> && !takes_maps<Class, In, Out> &&
                             !takes_products<Class, In, Out>,
                         In, Out>::type;

/// Calls the kernel of a class with the arguments that it takes.
template <class Class, class In, class Out>
__device__ __forceinline__ void run(const Gemm<In, Out>& g, const TensorMaps*) {
  Class::kernel(g);
}
template <class Class, class In, class Out>
__device__ __forceinline__ void run(const KernelArgs<In, Out>& args, const TensorMaps* maps) {
  if constexpr (takes_mapped_products<Class, In, Out>) {
    Class::kernel(args.problem, *maps, args.products);
  } else if constexpr (takes_products<Class, In, Out>) {
    Class::kernel(args.problem, args.products);
  } else if constexpr (!takes_maps<Class, In, Out>) {
    // A copy: through the reference, nvcc reloads alpha and beta for each element of C.
    const Gemm<In, Out> g = args.problem;
    Class::kernel(g, args.split_k);
  } else if constexpr (!takes_split_k<Class, In, Out>) {
    Class::kernel(args.problem, *maps);
  } else if constexpr (takes_scales<Class, In, Out>) {
    Class::kernel(args.problem, *maps, args.split_k, args.scales);
  } else {
    Class::kernel(args.problem, *maps, args.split_k);
  }
}

}  // namespace rung::cuda

// The address of the tensor maps in an entry's KernelArgs. TMA reads the maps in the parameter
// space, but taking a parameter's address in C++ gives the address of a copy, and clang 19 lacks
// __grid_constant__.
#define RUNG_TENSOR_MAPS_OF(entry, maps) \
  asm("{\n\t"                            \
      ".reg .b64 args;\n\t"              \
      "mov.b64 args, " #entry            \
      "_param_0;\n\t"                    \
      "cvta.param.u64 args, args;\n\t"   \
      "add.u64 %0, args, %1;\n\t"        \
      "}"                                \
      : "=l"(maps)                       \
      : "n"(cuda::maps_offset))

#define RUNG_GEMM_ENTRY(entry, Class, In, Out)                                          \
  extern "C" __global__ void __launch_bounds__(cuda::threads_of<Class>(),               \
                                               (cuda::min_blocks_per_sm<Class, Out>())) \
      entry(cuda::Parameter<Class, In, Out> args) {                                     \
    const cuda::TensorMaps* maps = nullptr;                                             \
    if constexpr (cuda::takes_maps<Class, In, Out>) RUNG_TENSOR_MAPS_OF(entry, maps);   \
    cuda::run<Class>(args, maps);                                                       \
  }

#define RUNG_GEMM_ENTRY_OF(prefix, Class, suffix, dtype)                                         \
  RUNG_ENTRIES_OF(dtype,                                                                         \
                  RUNG_GEMM_ENTRY(prefix##_##dtype##suffix, Class, ElementsOf<Dtype::dtype>::In, \
                                  ElementsOf<Dtype::dtype>::Out))

#define RUNG_CUDA_GEMM(slug, Class, ...) \
  RUNG_FOR_EACH(RUNG_GEMM_ENTRY_OF, gemm_cuda_##slug, Class, , __VA_ARGS__)

#define RUNG_CUDA_GEMM_TILES(slug, ...) \
  RUNG_FOR_EACH_ROW(RUNG_GEMM_TILE_ENTRIES, gemm_cuda_##slug, __VA_ARGS__)
#define RUNG_GEMM_TILE_ENTRIES(prefix, index, Class, ...) \
  RUNG_FOR_EACH(RUNG_GEMM_ENTRY_OF, prefix, Class, _##index, __VA_ARGS__)

#endif
