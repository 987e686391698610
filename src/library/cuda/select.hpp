#pragma once
// Selects the rung and its configuration for a problem on a GPU. The rules themselves are data, in
// tuned/.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "backends/cuda/kernel_name.hpp"
#include "backends/cuda/rungs.hpp"
#include "core/call.hpp"
#include "core/dtype.hpp"
#include "core/grouped.hpp"
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
  std::int64_t alignment;  // alignment_of() the call
  int arch;                // compute capability times ten
  ComputeMode compute_mode = ComputeMode::standard;
  std::int64_t alignment_of_ab = alignment;  // of A and B alone
  std::int64_t bytes_for_copies = any_size;  // for operands that the rung cannot read in place
};

using CudaGemmChoice = cuda::ConfiguredGemm;

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

/// Whether the order of sums must not depend on m. Integers have the same bits in any order.
bool is_batch_invariant(Dtype dtype, ComputeMode mode);
/// For types that no rung supports on the GPU, or without room for packed copies, returns a rung
/// that lacks the type.
CudaGemmChoice choose_cuda_gemm(const CudaGemmShape& shape);
/// The rung that may be faster than the chosen one for products of a type; empty if there is none.
std::optional<CudaGemmChoice> rival_of(const CudaGemmChoice& choice, Dtype dtype);
/// Throws the rung::Error for such a choice: Status::unavailable, or Status::invalid_argument if
/// there is no room.
[[noreturn]] void refuse(const CudaGemmShape& shape);
/// The type that a chosen rung multiplies: tf32 as f32 if it has no tf32.
Dtype type_in(const CudaGemmChoice& choice, Dtype dtype);
/// The kernel for a batch; empty if its products are better launched one by one, or must be.
std::optional<CudaGemmChoice> choose_cuda_batch(const GemmCall& call, int arch, bool from_pointers);
/// The kernel for ragged groups; empty if there is none for their type on the GPU, or in that mode, or
/// for a distance between two matrices that is no multiple of the leading dimension. Kernels for
/// batches have their tile.
std::optional<CudaGemmChoice> choose_cuda_groups(const GroupedCall& grouped, int arch);
/// The kernel for blocks with scales; empty if the GPU has none.
std::optional<CudaGemmChoice> choose_cuda_block_scales(const GemmCall& call, int arch);
/// The kernel for an operand of bf16 and one of f32; empty if the GPU has none.
std::optional<CudaGemmChoice> choose_cuda_mixed(int arch);
/// The bytes that packed copies of A and B may need, including what precedes them in a workspace.
std::int64_t bytes_for_copies(const CudaGemmShape& shape);
CudaDotChoice choose_cuda_dot(const CudaDotShape& shape);

/// The same for a call as used by the bench, with the alignment of its host operands.
CudaGemmChoice choose_cuda_gemm(const GemmCall& call, int arch);

/// The largest power of two, at most 128 bytes, that divides the addresses and leading dimensions
/// of a problem.
std::int64_t alignment_of(const GemmCall& call);
/// The same of A and B alone.
std::int64_t alignment_of_ab(const GemmCall& call);

}  // namespace rung
