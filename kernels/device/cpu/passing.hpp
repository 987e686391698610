#pragma once
// Products of which one operand passes by, once or strip by strip, from beyond L1 or L2.

#include "core/problem.hpp"
#include "device/cpu/copying_b.hpp"
#include "device/cpu/masked_kernels.hpp"
#include "device/cpu/passing_a.hpp"
#include "device/cpu/passing_b.hpp"

namespace rung::cpu {

/// Where rows of B are contiguous. False for other products.
template <class T>
bool multiply_passing(const Gemm<T, T>& g, const MaskedKernels<T>& kernels) {
  if (passes_b(g, kernels)) return multiply_passing_b(g, kernels), true;
  if (passes_a(g)) return multiply_passing_a(g, kernels), true;
  if (copies_strips(g, kernels)) return multiply_copying_strips(g, kernels), true;
  return false;
}

}  // namespace rung::cpu
