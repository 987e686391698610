// GPU grouped products: one launch, whose blocks read the offsets.

#include "library/cuda/gemm_grouped.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

#include "core/batch.hpp"
#include "core/integers.hpp"
#include "device/cuda/cost/invariant.hpp"
#include "device/cuda/library/check_offsets.hpp"
#include "device/cuda/tile/invariant_parts.hpp"
#include "library/check_overlap.hpp"
#include "library/cuda/gemm_batched.hpp"
#include "library/cuda/launch.hpp"
#include "library/public_types.hpp"
#include "rung/error.hpp"
#include "rung/grouped.hpp"
#include "select/cuda/select.hpp"

namespace rung {
namespace {

/// A group of the mean size. Its fastest configuration is used for all groups.
GemmCall typical(const GroupedCall& grouped) {
  GemmCall call = grouped.call;
  std::int64_t& cut = grouped.groups.cuts_k ? call.k : call.m;
  cut = ceil_div(cut, call.batch);
  call.batch = 1;
  return call;
}

/// True if k must be summed in parts to get the same bits as a single product.
bool sums_in_parts(const GroupedCall& grouped) {
  const GemmCall& call = grouped.call;
  return is_batch_invariant(call.dtype, call.compute_mode) &&
         cuda::has(*cuda::summed_parts.rung, call.dtype) && !grouped.groups.cuts_k &&
         cuda::invariant_parts(call.k) > 1;
}

[[noreturn]] void refuse(Dtype dtype, ComputeMode mode, int arch) {
  const std::string start = "rung: gemm_grouped: no kernel for " + std::string(name(dtype));
  if (mode == ComputeMode::reproducible && !is_integer(dtype)) {
    throw Error(Status::unavailable, start + " in mode reproducible on GPUs; batches have one");
  }
  if (is_batch_invariant(dtype, mode)) {
    throw Error(Status::unavailable, start + " in mode batch_invariant on this GPU, sm_" +
                                         std::to_string(arch) +
                                         "; f32 has one from sm_80 on, and all types but f64 on "
                                         "sm_90, for matrices a multiple of their leading "
                                         "dimension apart");
  }
  throw Error(
      Status::unavailable,
      start + " on this GPU, sm_" + std::to_string(arch) +
          "; f32, tf32, f64, i32, bf16 and f16 have one from sm_80 on; i8, e4m3 and e5m2 on "
          "sm_90, for matrices of C, and of B by columns, a multiple of their leading dimension "
          "apart");
}

template <class A, class B, class S, class C>
void run(S alpha, const A& a, const B& b, S beta, const C& c, const std::int32_t* offsets,
         CudaStream stream, const CudaBatchOptions& options) {
  check::workspace("gemm_grouped", options.gemm.workspace, options.gemm.workspace_bytes);
  check::multiprocessors("gemm_grouped", options.gemm.multiprocessors);
  check::compute_mode("gemm_grouped", options.gemm.compute_mode);
  cuda::gemm_grouped(canonical(alpha, a, b, beta, c, offsets),
                     static_cast<cuda::Stream>(stream.handle()), options);
}

}  // namespace

void cuda::check_offsets(const GroupedCall& grouped, std::int64_t extent, Stream stream) {
  const auto& [call, groups] = grouped;
  if (call.batch_status == nullptr || groups.offsets == nullptr) return;
  LaunchSequence sequence({current_context(), stream, nullptr, 0});
  const CheckOffsets check = {groups.offsets, call.batch, extent, call.batch_status};
  sequence.add(kernel_of(scale, Dtype::i8), {.grid = {1}, .block = {CheckOffsets::threads}}, &check,
               sizeof check);
  sequence.enqueue();
}

void cuda::gemm_grouped(const CanonicalGroups& canonical, Stream stream,
                        const CudaBatchOptions& options) {
  GroupedCall grouped = canonical.grouped;
  GemmCall& call = grouped.call;
  call.compute_mode = options.gemm.compute_mode;
  call.batch_status = options.status;
  check::has_mode(call.dtype, call.compute_mode);
  if (call.batch == 0) return;
  require_aligned("gemm_grouped", grouped.groups.offsets, sizeof(std::int32_t));
  require_aligned("gemm_grouped", options.status, sizeof(int));
  const bool changes_c = call.m > 0 && call.n > 0 && (canonical.multiplies || call.beta != 1);
  if (!changes_c || has_no_cut_k(canonical)) check_offsets(grouped, canonical.extent, stream);
  if (!changes_c) return;
  if (has_no_cut_k(canonical)) return gemm_batched(without_groups(canonical), stream, options);
  if (canonical.multiplies) check::apart("gemm_grouped", call);
  require_aligned("gemm_grouped", call);
  ContextCache& context = current_context();
  const auto choice = choose_cuda_groups(grouped, context.arch());
  if (!choice) refuse(call.dtype, call.compute_mode, context.arch());
  call.dtype = type_in(*choice, call.dtype);
  const WorkspaceSource workspace{context, stream, options.gemm.workspace,
                                  options.gemm.workspace_bytes};
  const Limits limits = limits_of_call(workspace, options.gemm.multiprocessors);
  CudaGemmChoice configured =
      choice->rung->groups ? context.configured(*choice, typical(grouped), limits) : *choice;
  if (sums_in_parts(grouped)) configured.config.tile = grouped_tile::in_parts;
  LaunchSequence sequence(workspace);
  for (GroupedCall left = grouped; left.call.batch > 0;
       advance(left, std::min(left.call.batch, max_groups))) {
    GemmCall part = left.call;
    part.batch = std::min(part.batch, max_groups);
    add_gemm(sequence, configured, part, limits.multiprocessors, left.groups);
  }
  sequence.enqueue();
}

#define RUNG_DEFINE_GROUPED(suffix, In, Out, InC, OutC)                                       \
  void gemm_grouped(Scalar<Out> alpha, const MatrixView<const In>& a,                         \
                    const BatchView<const In>& b, Scalar<Out> beta, const MatrixView<Out>& c, \
                    const std::int32_t* offsets, CudaStream stream,                           \
                    const CudaBatchOptions& options) {                                        \
    run(alpha, a, b, beta, c, offsets, stream, options);                                      \
  }                                                                                           \
  void gemm_grouped(Scalar<Out> alpha, const MatrixView<const In>& a,                         \
                    const MatrixView<const In>& b, Scalar<Out> beta, const BatchView<Out>& c, \
                    const std::int32_t* offsets, CudaStream stream,                           \
                    const CudaBatchOptions& options) {                                        \
    run(alpha, a, b, beta, c, offsets, stream, options);                                      \
  }
RUNG_CUDA_GEMM_TYPES(RUNG_DEFINE_GROUPED)
#undef RUNG_DEFINE_GROUPED

}  // namespace rung
