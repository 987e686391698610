#pragma once
// The number of elements that a GEMM kernel moves per element of C, computed from its tile sizes.

#include <string>

#include "device/cuda/entry/launch.hpp"
#include "device/metal/descriptor.hpp"

namespace rung::analysis {

/// per_k * K + constant, and the formula: "K/128 + K/64".
struct Formula {
  double per_k = 0, constant = 0;
  std::string text = "0";

  double at(double k) const { return per_k * k + constant; }
};

/// Elements that threads load and store per element of C, for full tiles and beta = 0.
struct Traffic {
  Formula global_loads, global_stores, shared_loads, shared_stores;
};

/// Properties of a GEMM kernel other than its tile sizes.
struct TrafficForm {
  int splits = 1;   // number of splits of k
  int cluster = 1;  // blocks adjacent in m that share loads of their columns of B
  /// For tensor cores: the number of columns of C for which each element of A read from shared
  /// memory (by tensor cores or their warps) is used, and the number of rows for each element of B.
  /// 0 if CUDA cores multiply.
  int fragment_rows = 0, fragment_columns = 0;
  /// The number of times that tensor cores read an element: 1.5 if they multiply its two halves in
  /// 3 products, or its three digits (of a byte each) in 6. 2 if warps load halves, which count as
  /// elements, into registers.
  double read_of_element = 1;
  double copied_of_element = 1;  // part of an element that a block copies: 0.75 for 3 digits
  bool stages_results = false;   // results are stored through shared memory
};

/// A block of BM x BN loads BM elements of A and BN of B per k-step; a thread reads TM and TN of
/// them. Without shared memory (BK = 0), threads load from global memory. With split-K, blocks
/// store their partial sums to global memory, and load all of them again.
Traffic gemm_traffic(const cuda::Tiling& tiling, const TrafficForm& form);

/// The traffic of a Metal rung. With simdgroup matrices, each simdgroup reads WM and WN elements
/// per k-step, and its results pass through shared memory once, because the layout of
/// simdgroup_matrix is unspecified.
Traffic gemm_traffic(const metal::Tiling& tiling);

}  // namespace rung::analysis
