#pragma once
// The number of elements that a gemm kernel moves per element of C, computed from its tile sizes.

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

/// Elements that threads load and store, per element of C, in full tiles and with beta = 0.
struct Traffic {
  Formula global_loads, global_stores, shared_loads, shared_stores;
};

/// Properties of a gemm kernel besides its tile sizes.
struct TrafficForm {
  int splits = 1;   // number of splits of k
  int cluster = 1;  // blocks stacked in m, which share one load of their columns of B
  /// Tensor cores: each element of A that they (or a warp for them) read from shared memory serves
  /// that many columns of C, each of B that many rows. 0: threads multiply.
  int fragment_rows = 0, fragment_columns = 0;
  /// How much of an element tensor cores read: 1.5 if they multiply its two halves, three at
  /// a time, or its three digits (of a byte), six at a time. 2 if warps load halves, which count as
  /// elements, into registers.
  double read_of_element = 1;
  double copied_of_element = 1;  // how much of an element a block copies: of three digits 0.75
  bool stages_results = false;   // results pass through shared memory
};

/// A block of BM x BN loads BM elements of A and BN of B per k-step, and a thread reads TM and TN
/// of them. Without shared memory (BK = 0) threads read them from global memory. With split-K,
/// blocks store their partial sums to global memory, and read all of them.
Traffic gemm_traffic(const cuda::Tiling& tiling, const TrafficForm& form);

/// The same for a Metal rung. If simdgroups multiply, each reads WM and WN elements per k-step, and
/// its results pass through shared memory once, because the layout of a simdgroup_matrix is
/// unspecified.
Traffic gemm_traffic(const metal::Tiling& tiling);

}  // namespace rung::analysis
