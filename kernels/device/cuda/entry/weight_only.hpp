#pragma once
// What the host passes to a kernel that multiplies by packed weights.

#include <cstddef>

#include "device/cuda/entry/launch.hpp"
#include "device/weight_layout.hpp"

namespace rung::cuda {

/// The kernel's only parameter: C = alpha * A * W^T + beta * C, for weights W of n x k. A and C have any
/// strides; the problem's B is not used.
template <class In>
struct WeightOnlyArgs {
  KernelArgs<In, float> gemm;
  const unsigned char* weights;
  WeightLayout layout;
  bool c_is_float;  // else C has elements of In
};

}  // namespace rung::cuda
