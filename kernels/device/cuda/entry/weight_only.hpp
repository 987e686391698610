#pragma once
// The parameter of kernels that multiply by packed weights.

#include <cstddef>

#include "device/cuda/entry/launch.hpp"
#include "device/weight_layout.hpp"

namespace rung::cuda {

/// The kernel's only parameter: C = alpha * A * W^T + beta * C, for n x k weights W. A and C have
/// any strides; the problem's B is not used.
template <class In>
struct WeightOnlyArgs {
  KernelArgs<In, float> gemm;
  const unsigned char* weights;
  WeightLayout layout;
  bool c_is_float;  // if false, C has elements of type In
};

}  // namespace rung::cuda
