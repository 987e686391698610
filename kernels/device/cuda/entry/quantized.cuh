#pragma once
// Registration macro of rungs that multiply bfloat16 operands in a block format:
//
//   RUNG_QUANTIZED_GEMM(49_mxfp8, Mxfp8)
//
// It is like RUNG_CUDA_GEMM of entry/gemm.cuh, but the kernel also takes the operands' scales:
// kernel(g, maps, scales). launch(g) describes A and B by quantized_map(), and the host quantizes
// them before the launch. The header's field "needs" names the format.

#include <cstdint>

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/library/quantize_operand.hpp"

namespace rung::cuda {

/// ScaleTiles of A and B in device memory.
struct BlockScaleTiles {
  const std::uint8_t* a;
  const std::uint8_t* b;
};

}  // namespace rung::cuda

#ifdef RUNG_HOST

namespace rung::cuda {

template <class Class>
constexpr GemmRung quantized_rung(std::string_view entry) {
  GemmRung rung = gemm_rung<Class, Dtype::bf16>(entry);
  rung.maps = true;
  return rung;
}

}  // namespace rung::cuda

#define RUNG_QUANTIZED_GEMM(slug, Class) \
  extern const cuda::GemmRung gemm_cuda_##slug = cuda::quantized_rung<Class>("gemm_cuda_" #slug);

#else

#define RUNG_QUANTIZED_GEMM(slug, Class)                                                        \
  extern "C" __global__ void __launch_bounds__(cuda::threads_of<Class>(),                       \
                                               (cuda::min_blocks_per_sm<Class, float>()))       \
      gemm_cuda_##slug##_bf16(cuda::KernelArgs<bfloat16, float> args) {                         \
    const cuda::TensorMaps* maps = nullptr;                                                     \
    RUNG_TENSOR_MAPS_OF(gemm_cuda_##slug##_bf16, maps);                                         \
    Class::kernel(args.problem, *maps,                                                          \
                  cuda::BlockScaleTiles{reinterpret_cast<const std::uint8_t*>(args.scales.a),   \
                                        reinterpret_cast<const std::uint8_t*>(args.scales.b)}); \
  }

#endif
