#pragma once
// How many elements a gemm kernel moves for each element of C, worked out from its tiles.

#include <string>

#include "device/cuda/entry/launch.hpp"
#include "device/metal/descriptor.hpp"

namespace rung::analysis {

/// per_k * K + constant, and how one would write it: "K/128 + K/64".
struct Formula {
  double per_k = 0, constant = 0;
  std::string text = "0";

  double at(double k) const { return per_k * k + constant; }
};

/// Elements that threads load and store, for each element of C, in whole tiles and with beta = 0.
struct Traffic {
  Formula global_loads, global_stores, shared_loads, shared_stores;
};

/// What a gemm kernel's tiles do not tell.
struct TrafficForm {
  int splits = 1;   // parts of k
  int cluster = 1;  // blocks below each other, which bring their columns of B once for all
  /// Of tensor cores: each element of A that they, or a warp for them, read from shared memory is
  /// for so many columns of C, each of B for so many rows. 0: threads multiply by themselves.
  int fragment_rows = 0, fragment_columns = 0;
  bool stages_results = false;  // they leave by way of shared memory
};

/// A block of BM x BN brings BM elements of A and BN of B for each step along k, and a thread reads
/// TM and TN of them. Without shared memory (BK = 0) threads read them where they lie. Parts of k
/// (splits > 1) leave their sums in global memory, and read all of them.
Traffic gemm_traffic(const cuda::Tiling& tiling, const TrafficForm& form);

/// The same of a Metal rung. Where simdgroups multiply, each reads WM and WN elements for a step
/// along k, and its results go through shared memory once, for its threads to know which are
/// theirs.
Traffic gemm_traffic(const metal::Tiling& tiling);

}  // namespace rung::analysis
