#pragma once
// Which rung computes a problem on a GPU, and how. The rules themselves are data, in tuned/.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "backends/cuda/kernel_name.hpp"
#include "backends/cuda/rungs.hpp"
#include "core/call.hpp"
#include "core/dtype.hpp"
#include "core/problem.hpp"
#include "library/rules.hpp"
#include "rung/matrix.hpp"
#include "rung/options.hpp"

namespace rung {

/// A problem in the canonical form of core/problem.hpp, and the device.
struct CudaGemmShape {
  Dtype dtype;
  std::int64_t m, n, k;
  Order a, b;              // of A and B in memory
  std::int64_t alignment;  // of the operands: CudaGemmRule::alignment
  int arch;                // compute capability times ten
  ComputeMode compute_mode = ComputeMode::standard;
  std::int64_t bytes_for_copies = any_size;  // of operands that the rung cannot read as they lie
};

using CudaGemmChoice = cuda::PlannedGemm;

struct CudaDotShape {
  Dtype dtype;
  std::int64_t n;
  DotMode mode;
  int arch;
};

struct CudaDotChoice {
  std::size_t index;  // in cuda::dot_rungs
  std::string_view id;
  const cuda::DotRung* rung;
};

/// For types that a GPU has no rung for, or no room for copies, one that does not have the type.
CudaGemmChoice choose_cuda_gemm(const CudaGemmShape& shape);
/// Throws the rung::Error that says why there is none that has: Status::unavailable, or for want of
/// room Status::invalid_argument.
[[noreturn]] void refuse(const CudaGemmShape& shape);
/// What copies of A and B may take, with what lies before them in a workspace.
std::int64_t bytes_for_copies(const CudaGemmShape& shape);
CudaDotChoice choose_cuda_dot(const CudaDotShape& shape);

/// The same for a call as the bench passes it around, with the alignment of its host operands.
CudaGemmChoice choose_cuda_gemm(const GemmCall& call, int arch);

/// Bytes, at most 128, that the addresses and leading dimensions of a problem are multiples of.
std::int64_t alignment_of(const GemmCall& call);

}  // namespace rung
