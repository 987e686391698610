#pragma once
// Selects the kernel for a problem on a GPU, by the rules of tables.hpp. tuned.hpp chooses its configuration, unless
// the kernel does, or a function at the end of this file: for mode batch_invariant, products with an epilogue, and
// products by packed weights.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "backends/rungs/cuda.hpp"
#include "backends/rungs/kernel_name.hpp"
#include "core/call.hpp"
#include "core/dtype.hpp"
#include "core/grouped.hpp"
#include "core/problem.hpp"
#include "device/cuda/cost/gemm_shape.hpp"
#include "device/cuda/cost/weight_only.hpp"
#include "device/cuda/entry/limits.hpp"
#include "rung/epilogue_kinds.hpp"
#include "rung/options.hpp"
#include "select/cuda/operands.hpp"

namespace rung {

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

/// True if the order of sums must not depend on m. Integers have the same bits in any order.
bool is_batch_invariant(Dtype dtype, ComputeMode mode);
/// For types that no rung supports on the GPU, or without room for packed copies, returns a rung
/// that lacks the type.
CudaGemmChoice choose_cuda_gemm(const CudaGemmShape& shape);
/// The rung that may be faster than the chosen one for products of a type, if any.
std::optional<CudaGemmChoice> rival_of(const CudaGemmChoice& choice, Dtype dtype);
/// Throws the rung::Error for such a choice: Status::unavailable, or Status::invalid_argument without room for
/// copies.
[[noreturn]] void refuse(const CudaGemmShape& shape);
/// The type that a chosen rung multiplies: tf32 as f32 if it has no tf32.
Dtype type_in(const CudaGemmChoice& choice, Dtype dtype);
/// The kernel for a batch; empty if its products must be launched one by one, or are faster that way.
std::optional<CudaGemmChoice> choose_cuda_batch(const GemmCall& call, int arch, bool from_pointers);
/// True if a kernel for groups of rows finds the matrices of B below each other: in place, at multiples of
/// their leading dimension, or in the copies of a B by rows of a type that is read K-major.
bool has_stacked_b(const GemmCall& call);
/// The kernel for ragged groups, with its tile if it is one for batches. Empty if no kernel has their type on the
/// GPU and in that mode, or accepts the distance between two matrices of C or of B (has_stacked_b()).
std::optional<CudaGemmChoice> choose_cuda_groups(const GroupedCall& grouped, int arch);
/// The kernel for block scales; empty if the GPU has none.
std::optional<CudaGemmChoice> choose_cuda_block_scales(const GemmCall& call, int arch);
/// The kernel for an operand of bf16 and one of f32; empty if the GPU has none.
std::optional<CudaGemmChoice> choose_cuda_mixed(int arch);
/// The most bytes that packed copies of A and B need in a workspace, with the semaphores before them.
std::int64_t bytes_for_copies(const CudaGemmShape& shape);
CudaDotChoice choose_cuda_dot(const CudaDotShape& shape);

/// For a call as used by the bench, with the alignment of its host operands.
CudaGemmChoice choose_cuda_gemm(const GemmCall& call, int arch);

/// The largest power of two, at most 128 bytes, that divides the addresses and leading dimensions
/// of a problem.
std::int64_t alignment_of(const GemmCall& call);
/// As alignment_of(), for A and B alone.
std::int64_t alignment_of_ab(const GemmCall& call);

}  // namespace rung

namespace rung::cuda {

/// The fastest tile of few_rows. Its `splits` are the blocks that share the parts of k of a tile.
GemmConfig few_rows_config(std::int64_t n, std::int64_t k, bool b_is_k_major, int multiprocessors);

/// Kernels with their configurations, the fastest first.
struct Candidates {
  std::array<CudaGemmChoice, 3> all = {};
  std::size_t count = 0;

  void add(const CudaGemmChoice& choice) { all[count++] = choice; }
};

/// For mode batch_invariant: configurations decide which blocks add which parts of k; k alone decides the
/// parts and their order (device/cuda/tile/invariant_parts.hpp). `chosen` is from choose_cuda_gemm() and has
/// the type. The caller takes the first candidate whose launch has room in its workspace, or else the last
/// one. Without candidates, it takes a configuration of `chosen` without split-K.
Candidates invariant_candidates(const CudaGemmChoice& chosen, const GemmCall& problem,
                                const Limits& limits);

/// The tile of fused_epilogue with the shortest expected time among those for all parts, and the splits of
/// its last wave, for a product of that type whose results, gated or not, are of type `out`. m, n and k are
/// at least 1.
GemmConfig fused_config(Dtype dtype, const GemmSize& size, ElementType out, bool gated,
                        const OddRows& odd_rows, const Limits& limits);

/// The same among the tiles for common parts (has_common_parts()).
GemmConfig common_config(Dtype dtype, const GemmSize& size, const OddRows& odd_rows,
                         const Limits& limits);

/// The kernel for a product by packed weights of that many bits, with its configuration: weight_stream for one row,
/// weight_only, or from some rows on, on sm_90, weight_only_wgmma.
CudaGemmChoice choose_weight_only(const GemmCall& product, int bits, int arch,
                                  const Limits& limits);

/// Rows of A (BM) and of the weights (BN) of a block; BN of weight_stream is the most rows of the weights.
const TileShape& weight_only_tile(const CudaGemmChoice& chosen);

WeightOnlyBlocks weight_only_blocks(const CudaGemmChoice& chosen, const GemmCall& g,
                                    int multiprocessors);

/// True if the kernel takes a tensor map of A.
bool loads_by_tma(const CudaGemmChoice& chosen);
/// True if it may start before the previous kernel has finished (Launch::starts_early). weight_stream is
/// compiled again for sm_90 ("also compiled for", at the end of its file), and
/// waits there.
bool may_start_early(const CudaGemmChoice& chosen, int arch);

}  // namespace rung::cuda
