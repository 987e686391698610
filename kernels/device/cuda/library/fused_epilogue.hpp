#pragma once
// The argument of the kernels of fused_epilogue.cu.

#include <cstddef>

#include "core/epilogue.hpp"
#include "core/problem.hpp"
#include "device/cuda/entry/launch.hpp"

namespace rung::cuda {

/// Tiles from this number on are for the common parts of an epilogue alone: has_common_parts() of
/// library/cuda/fused_epilogue.cpp.
inline constexpr int first_common_tile = 6;

/// The beginning is that of KernelArgs, so that the kernel finds its tensor maps.
template <class In>
struct FusedArgs {
  Gemm<In, float> problem;  // of the product; C is that of the epilogue
  SplitK split_k = {};
  TensorMaps maps = {};
  EncodedTensorMap other = {};  // of the aux output or the residual; right behind the others
  EpilogueArgs epilogue = {};
};
static_assert(offsetof(FusedArgs<float>, maps) == maps_offset);
static_assert(offsetof(FusedArgs<float>, other) == maps_offset + sizeof(TensorMaps));

}  // namespace rung::cuda
