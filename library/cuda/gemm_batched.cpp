// GPU batches: one launch of a batched kernel or, if there is no such kernel or each product fills
// the GPU, one product after another.

#include "library/cuda/gemm_batched.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

#include "backends/cuda/grid_limits.hpp"
#include "backends/cuda/prepared_gemm.hpp"
#include "core/batch.hpp"
#include "library/canonical_batch.hpp"
#include "library/check_overlap.hpp"
#include "library/cuda/gemm.hpp"
#include "library/cuda/launch.hpp"
#include "library/public_types.hpp"
#include "rung/batch.hpp"
#include "rung/error.hpp"
#include "select/cuda/select.hpp"

namespace rung {
namespace {

bool has_pointers(const GemmCall& call) {
  return call.a.pointers != nullptr || call.b.pointers != nullptr || call.c.pointers != nullptr;
}

/// Launches a batch once, or several times if it exceeds the size limit of a grid.
void launch_batch(const cuda::WorkspaceSource& workspace, const CudaGemmChoice& choice,
                  GemmCall call, int multiprocessors) {
  GemmCall one = call;
  one.batch = 1;
  const std::int64_t tiles = cuda::launch_of(choice, one).grid.x;
  const std::int64_t most = std::max<std::int64_t>(cuda::max_grid_x / tiles, 1);
  cuda::LaunchSequence sequence(workspace);
  for (std::int64_t left = call.batch; left > 0; left -= most) {
    call.batch = std::min(left, most);
    cuda::add_gemm(sequence, choice, call, multiprocessors);
    advance(call, call.batch);
  }
  sequence.enqueue();
}

void launch_one_by_one(const cuda::WorkspaceSource& workspace, CanonicalCall canonical,
                       const CudaOptions& options) {
  const std::int64_t products = canonical.call.batch;
  canonical.call.batch = 1;
  cuda::LaunchSequence sequence(workspace);
  for (std::int64_t i = 0; i < products; ++i) {
    cuda::add_gemm(sequence, canonical, options);
    advance(canonical.call, 1);
  }
  sequence.enqueue();
}

/// True if the workspace has room for the packed operands that the kernel needs, if any.
bool has_room_for_copies(const cuda::WorkspaceSource& workspace, const CudaGemmChoice& choice,
                         const GemmCall& call) {
  if (!choice.rung->maps) return true;
  const cuda::Launch launch = cuda::launch_of(choice, call);
  return cuda::packed_bytes(launch) == 0 || cuda::fits(workspace, launch);
}

[[noreturn]] void refuse_pointers(const GemmCall& call, int arch) {
  const std::string start =
      "rung: gemm_batched: no kernel for arrays of pointers to " + std::string(name(call.dtype));
  const ComputeMode mode = call.compute_mode;
  if (!is_integer(call.dtype) &&
      (mode == ComputeMode::batch_invariant || mode == ComputeMode::reproducible)) {
    const bool is_invariant = mode == ComputeMode::batch_invariant;
    throw Error(Status::unavailable, start + " in mode " +
                                         (is_invariant ? "batch_invariant" : "reproducible") +
                                         " on GPUs; batches at a stride have one");
  }
  throw Error(Status::unavailable,
              start + " on this GPU, sm_" + std::to_string(arch) +
                  "; f32, tf32, f64, i32, bf16 and f16 have one from sm_80 on");
}

template <class In, class Out>
void run(Scalar<Out> alpha, const BatchView<const In>& a, const BatchView<const In>& b,
         Scalar<Out> beta, const BatchView<Out>& c, CudaStream stream,
         const CudaBatchOptions& options) {
  check::workspace("gemm_batched", options.gemm.workspace, options.gemm.workspace_bytes);
  check::multiprocessors("gemm_batched", options.gemm.multiprocessors);
  check::compute_mode("gemm_batched", options.gemm.compute_mode);
  cuda::gemm_batched(canonical(alpha, a, b, beta, c), static_cast<cuda::Stream>(stream.handle()),
                     options);
}

}  // namespace

void cuda::gemm_batched(const CanonicalCall& canonical, Stream stream,
                        const CudaBatchOptions& options) {
  GemmCall call = canonical.call;
  call.compute_mode = options.gemm.compute_mode;
  call.batch_status = options.status;
  check::has_mode(call.dtype, call.compute_mode);
  if (call.batch == 0 || (!canonical.multiplies && call.beta == 1)) return;
  if (canonical.multiplies) check::apart("gemm_batched", call);
  require_aligned("gemm_batched", call);
  require_aligned("gemm_batched", options.status, sizeof(int));
  ContextCache& context = current_context();
  const bool from_pointers = has_pointers(call);
  const auto choice = choose_cuda_batch(call, context.arch(), from_pointers);
  const WorkspaceSource workspace{context, stream, options.gemm.workspace,
                                  options.gemm.workspace_bytes};
  if (!choice) {
    if (from_pointers) refuse_pointers(call, context.arch());
    return launch_one_by_one(workspace, canonical, options.gemm);
  }
  const Limits limits = limits_of_call(workspace, options.gemm.multiprocessors);
  call.dtype = type_in(*choice, call.dtype);
  const CudaGemmChoice configured = context.configured(*choice, call, limits);
  if (!has_room_for_copies(workspace, configured, call)) {
    return launch_one_by_one(workspace, canonical, options.gemm);
  }
  launch_batch(workspace, configured, call, limits.multiprocessors);
}

#define RUNG_DEFINE_BATCHED(suffix, In, Out, InC, OutC)                                            \
  void gemm_batched(Scalar<Out> alpha, const BatchView<const In>& a, const BatchView<const In>& b, \
                    Scalar<Out> beta, const BatchView<Out>& c, CudaStream stream,                  \
                    const CudaBatchOptions& options) {                                             \
    run(alpha, a, b, beta, c, stream, options);                                                    \
  }
RUNG_CUDA_GEMM_TYPES(RUNG_DEFINE_BATCHED)
#undef RUNG_DEFINE_BATCHED

}  // namespace rung
