#pragma once
// The parameter of the kernels in fused_epilogue.cu.

#include <cstddef>

#include "core/epilogue.hpp"
#include "core/problem.hpp"
#include "device/cuda/entry/launch.hpp"

namespace rung::cuda {

/// Tiles with this index or above support only the common parts of an epilogue: has_common_parts()
/// in library/cuda/fused_epilogue.cpp.
inline constexpr int first_common_tile = 6;

/// Begins like KernelArgs, so that the kernel finds its tensor maps.
template <class In>
struct FusedArgs {
  Gemm<In, float> problem;  // the product; the epilogue has its own C
  SplitK split_k = {};
  TensorMaps maps = {};
  EncodedTensorMap other = {};  // the aux output or the residual; directly after `maps`
  EpilogueArgs epilogue = {};
};
static_assert(offsetof(FusedArgs<float>, maps) == maps_offset);
static_assert(offsetof(FusedArgs<float>, other) == maps_offset + sizeof(TensorMaps));

}  // namespace rung::cuda
