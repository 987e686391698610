#include "library/cuda/block_scaled.hpp"

#include <algorithm>
#include <string>

#include "backends/cuda/prepared_gemm.hpp"
#include "core/batch.hpp"
#include "core/integers.hpp"
#include "library/canonical_grouped.hpp"
#include "library/cuda/gemm_grouped.hpp"
#include "library/cuda/launch.hpp"
#include "rung/error.hpp"
#include "select/cuda/select.hpp"

namespace rung {
namespace {

/// The tensor map of a bfloat16 C, with the kernel's box size (epilogue/tma_store.cuh).
cuda::TensorMapSpec map_of_bf16(const GemmCall& call) {
  const cuda::TensorMapSpec c = {.data = call.c.data,
                                 .element_bytes = sizeof(bfloat16),
                                 .row_length = call.n,
                                 .rows = call.m,
                                 .ld = call.c.row_stride,
                                 .box_row_length = 128 / int{sizeof(bfloat16)},
                                 .box_rows = 64};
  const bool has_whole_chunks = call.n * std::int64_t{sizeof(bfloat16)} % 16 == 0;
  return call.beta == 0 && has_whole_chunks && c.is_aligned() ? c : cuda::TensorMapSpec{};
}

/// Adds the launch of up to max_groups groups.
void add(cuda::LaunchSequence& sequence, const CudaGemmChoice& choice, const BlockScaledCall& call,
         int multiprocessors) {
  const auto& [product, groups] = call.product;
  cuda::Launch launch = cuda::fitted(cuda::launch_of(choice, product, groups), multiprocessors);
  if (call.scales.to_bf16) launch.c = map_of_bf16(product);
  cuda::require_room(sequence.workspace(), launch, choice.id);
  sequence.add(choice, product, launch, multiprocessors, groups, &call.scales);
}

/// A group of the mean size. Its fastest configuration is used for all groups.
GemmCall typical(GemmCall call) {
  call.m = ceil_div(call.m, call.batch);
  call.batch = 1;
  return call;
}

CudaGemmChoice chosen(const GemmCall& call, int arch) {
  const auto choice = choose_cuda_block_scales(call, arch);
  if (!choice) {
    throw Error(Status::unavailable, "rung: gemm_block_scaled: no kernel for this GPU, sm_" +
                                         std::to_string(arch) + "; it needs sm_90");
  }
  if (!has_stacked_b(call)) {
    throw Error(Status::unavailable,
                "rung: gemm_block_scaled: matrices of B are " +
                    std::to_string(call.b.batch_stride) +
                    " elements apart; on GPUs, by columns, it must be a multiple of their leading "
                    "dimension");
  }
  return *choice;
}

void check_pointers(const BlockScaledCall& call, const int* status) {
  constexpr const char* op = "gemm_block_scaled";
  cuda::require_aligned(op, call.product.call.c.data, call.scales.to_bf16 ? 2 : sizeof(float));
  cuda::require_aligned(op, call.scales.a, sizeof(float));
  cuda::require_aligned(op, call.scales.b, sizeof(float));
  cuda::require_aligned(op, call.product.groups.offsets, sizeof(std::int32_t));
  cuda::require_aligned(op, status, sizeof(int));
}

void check_options(const CudaOptions& options) {
  check::workspace("gemm_block_scaled", options.workspace, options.workspace_bytes);
  check::multiprocessors("gemm_block_scaled", options.multiprocessors);
  check::mode_of_block_scales(options.compute_mode);
}

}  // namespace

void cuda::gemm_block_scaled(const BlockScaledCall& call, Stream stream,
                             const CudaBatchOptions& options) {
  const GemmCall& product = call.product.call;
  if (product.batch == 0) return;
  check_pointers(call, options.status);
  const bool changes_c = product.m > 0 && product.n > 0 && (product.k > 0 || product.beta != 1);
  if (!changes_c) {
    GroupedCall unread = call.product;
    unread.call.batch_status = options.status;
    return check_offsets(unread, product.m, stream);
  }
  ContextCache& context = current_context();
  const CudaGemmChoice rung = chosen(product, context.arch());
  const WorkspaceSource workspace{context, stream, options.gemm.workspace,
                                  options.gemm.workspace_bytes};
  const Limits limits = limits_of_call(workspace, options.gemm.multiprocessors);
  const CudaGemmChoice choice = context.configured(rung, typical(product), limits);
  LaunchSequence sequence(workspace);
  BlockScaledCall left = call;
  left.product.call.batch_status = options.status;
  while (left.product.call.batch > 0) {
    BlockScaledCall part = left;
    const std::int64_t groups = std::min(part.product.call.batch, max_groups);
    part.product.call.batch = groups;
    add(sequence, choice, part, limits.multiprocessors);
    advance(left.product, groups);
    left.scales.b += groups * left.scales.b_group;
  }
  sequence.enqueue();
}

void gemm_block_scaled(float alpha, const BlockScaledMatrix& a, const BlockScaledMatrix& b,
                       float beta, const OutputMatrix& c, CudaStream stream,
                       const CudaOptions& options) {
  check_options(options);
  cuda::gemm_block_scaled(canonical(alpha, a, b, beta, c),
                          static_cast<cuda::Stream>(stream.handle()), {.gemm = options});
}

void gemm_block_scaled(float alpha, const BlockScaledMatrix& a, const BlockScaledBatch& b,
                       float beta, const OutputMatrix& c, const std::int32_t* offsets,
                       CudaStream stream, const CudaBatchOptions& options) {
  check_options(options.gemm);
  const BlockScaledCall call = canonical(alpha, a, b, beta, c, offsets);
  check::group_counts(offsets, call.product.call.batch, call.product.call.m);
  cuda::gemm_block_scaled(call, static_cast<cuda::Stream>(stream.handle()), options);
}

}  // namespace rung
