#pragma once
// How a rung for tensor cores offers itself: as those of rung.cuh do, for elements of 16 bits.

#include "device/cuda/rung.cuh"

#ifdef RUNG_HOST

namespace rung::cuda {

/// A rung of one size for bf16 and f16.
template <class R>
constexpr GemmRung gemm_rung_of_halves(std::string_view entry) {
  constexpr auto launch = [](const auto& g, const GemmPlan&) { return R::launch(g); };
  return {entry, {.bf16 = launch, .f16 = launch}, {}, false, false, tiling_of<R>()};
}

/// The same with TensorMaps.
template <class R>
constexpr GemmRung gemm_rung_with_maps(std::string_view entry) {
  GemmRung rung = gemm_rung_of_halves<R>(entry);
  rung.maps = true;
  return rung;
}

}  // namespace rung::cuda

#define RUNG_CUDA_GEMM_MAPS(number, slug, Rung)             \
  extern const cuda::GemmRung gemm_cuda_##number##_##slug = \
      cuda::gemm_rung_with_maps<Rung>("gemm_cuda_" #number "_" #slug);

#define RUNG_CUDA_GEMM_HALVES(number, slug, Rung)           \
  extern const cuda::GemmRung gemm_cuda_##number##_##slug = \
      cuda::gemm_rung_of_halves<Rung>("gemm_cuda_" #number "_" #slug);

#else

// Registers are what such a kernel lives on: as many as its threads may have.
#define RUNG_CUDA_GEMM_HALF_ENTRY(name, Rung, In)                                                \
  extern "C" __global__ void __launch_bounds__(Rung::block.count(), 1) name(Gemm<In, float> g) { \
    Rung::template kernel<In, float>(g);                                                         \
  }

#define RUNG_CUDA_GEMM_HALVES(number, slug, Rung)                               \
  RUNG_CUDA_GEMM_HALF_ENTRY(gemm_cuda_##number##_##slug##_bf16, Rung, bfloat16) \
  RUNG_CUDA_GEMM_HALF_ENTRY(gemm_cuda_##number##_##slug##_f16, Rung, float16)

// The address of a kernel's second parameter, which TMA reads where the launch put it. Clang knows
// no __grid_constant__: it would hand out the address of a copy.
#define RUNG_SECOND_PARAMETER(entry, to)  \
  asm("{\n\t"                             \
      ".reg .b64 parameter;\n\t"          \
      "mov.b64 parameter, " #entry        \
      "_param_1;\n\t"                     \
      "cvta.param.u64 %0, parameter;\n\t" \
      "}"                                 \
      : "=l"(to))

#define RUNG_CUDA_GEMM_MAPS_ENTRY(name, Rung, In)                      \
  extern "C" __global__ void __launch_bounds__(Rung::block.count(), 1) \
      name(Gemm<In, float> g, cuda::TensorMaps) {                      \
    const cuda::TensorMaps* maps;                                      \
    RUNG_SECOND_PARAMETER(name, maps);                                 \
    Rung::template kernel<In, float>(g, *maps);                        \
  }

#define RUNG_CUDA_GEMM_MAPS(number, slug, Rung)                                 \
  RUNG_CUDA_GEMM_MAPS_ENTRY(gemm_cuda_##number##_##slug##_bf16, Rung, bfloat16) \
  RUNG_CUDA_GEMM_MAPS_ENTRY(gemm_cuda_##number##_##slug##_f16, Rung, float16)

#endif
