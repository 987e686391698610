#pragma once
// Tensor maps for columns of pixels (CUDA Driver API, "Tensor Map Object Management"). They are no members of DriverApi,
// because drivers before CUDA 12.8 lack them and the library does not use them.

#include <cstdint>

#include "core/cuda_driver/api.hpp"

namespace rung::vgpu {

/// The arguments that cuTensorMapEncodeIm2col and cuTensorMapEncodeIm2colWide share. Sizes and corners are in elements,
/// strides in bytes; dimensions are C, W, H, D, N without those that the rank lacks.
struct Im2colMap {
  cuda::TensorMapDataType type{};
  unsigned rank = 0;
  void* address = nullptr;
  const std::uint64_t* sizes = nullptr;
  const std::uint64_t* strides = nullptr;
  std::uint32_t channels_per_pixel = 0, pixels_per_column = 0;
  const std::uint32_t* steps = nullptr;
  cuda::TensorMapInterleave interleave{};
  cuda::TensorMapSwizzle swizzle{};
  cuda::TensorMapFill fill{};
};

/// cuTensorMapEncodeIm2col. The corners have rank - 2 elements, in the order of W, H, D.
cuda::Result virtual_encode_im2col(cuda::TensorMap* map, const Im2colMap& given, const int* lower,
                                   const int* upper);
/// cuTensorMapEncodeIm2colWide. `is_128`: CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128.
cuda::Result virtual_encode_im2col_wide(cuda::TensorMap* map, const Im2colMap& given, int lower,
                                        int upper, bool is_128);

}  // namespace rung::vgpu
