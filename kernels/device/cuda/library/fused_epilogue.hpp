#pragma once
// The argument of the kernels of fused_epilogue.cu.

#include <cstddef>

#include "core/epilogue.hpp"
#include "core/problem.hpp"
#include "device/cuda/entry/launch.hpp"

namespace rung::cuda {

/// The beginning is that of KernelArgs, so that the kernel finds its tensor maps.
template <class In>
struct FusedArgs {
  Gemm<In, float> problem;  // of the product; C is that of the epilogue
  SplitK split_k = {};
  TensorMaps maps = {};
  EpilogueArgs epilogue = {};
};
static_assert(offsetof(FusedArgs<float>, maps) == maps_offset);

}  // namespace rung::cuda
