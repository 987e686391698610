#pragma once
// A problem and a GPU, as the predicates of the CUDA kernels see them.

#include <cstdint>
#include <limits>

#include "core/dtype.hpp"
#include "rung/matrix.hpp"
#include "rung/options.hpp"

namespace rung {

/// A problem in the canonical form of core/problem.hpp, and the device.
struct CudaGemmShape {
  Dtype dtype;
  std::int64_t m, n, k;
  Order a, b;              // of A and B in memory
  std::int64_t alignment;  // alignment_of() the call
  int arch;                // compute capability times ten
  ComputeMode compute_mode = ComputeMode::standard;
  std::int64_t alignment_of_ab = alignment;  // of A and B alone
  /// Room for operands that the kernel cannot read in place.
  std::int64_t bytes_for_copies = std::numeric_limits<std::int64_t>::max();
};

}  // namespace rung
