// On a GPU: ragged groups are one launch, whose blocks read the offsets.

#include "library/cuda/gemm_grouped.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

#include "core/integers.hpp"
#include "library/cuda/gemm_batched.hpp"
#include "library/cuda/launch.hpp"
#include "library/cuda/select.hpp"
#include "rung/error.hpp"
#include "rung/grouped.hpp"

namespace rung {
namespace {

/// One group of the mean size: the configuration that is fastest for it is used for all.
GemmCall typical(const GroupedCall& grouped) {
  GemmCall call = grouped.call;
  std::int64_t& cut = grouped.groups.cuts_k ? call.k : call.m;
  cut = ceil_div(cut, call.batch);
  call.batch = 1;
  return call;
}

[[noreturn]] void refuse(Dtype dtype, int arch) {
  throw Error(Status::unavailable, "rung: gemm_grouped: no kernel for " + std::string(name(dtype)) +
                                       " on this GPU, sm_" + std::to_string(arch) +
                                       "; bf16, f16 and e4m3 have one on sm_90, for matrices a "
                                       "multiple of their leading dimension apart");
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

void cuda::gemm_grouped(const CanonicalGroups& canonical, Stream stream,
                        const CudaBatchOptions& options) {
  GroupedCall grouped = canonical.grouped;
  GemmCall& call = grouped.call;
  call.compute_mode = options.gemm.compute_mode;
  call.batch_status = options.status;
  check::has_mode(call.dtype, call.compute_mode);
  if (call.batch == 0 || call.m == 0 || call.n == 0) return;
  if (!canonical.multiplies && call.beta == 1) return;
  if (has_no_cut_k(canonical)) return gemm_batched(without_groups(canonical), stream, options);
  ContextCache& context = current_context();
  const auto choice = choose_cuda_groups(grouped, context.arch());
  if (!choice) refuse(call.dtype, context.arch());
  const WorkspaceSource workspace{context, stream, options.gemm.workspace,
                                  options.gemm.workspace_bytes};
  const Limits limits = limits_of_call(workspace, options.gemm.multiprocessors);
  const CudaGemmChoice configured = context.configured(*choice, typical(grouped), limits);
  for (GroupedCall left = grouped; left.call.batch > 0;
       advance(left, std::min(left.call.batch, most_groups))) {
    GemmCall part = left.call;
    part.batch = std::min(part.batch, most_groups);
    launch_gemm(workspace, configured, part, limits.multiprocessors, left.groups);
  }
}

#define RUNG_GEMM_GROUPED(In, Out)                                                             \
  void gemm_grouped(float alpha, const MatrixView<const In>& a, const BatchView<const In>& b,  \
                    float beta, const MatrixView<Out>& c, const std::int32_t* offsets,         \
                    CudaStream stream, const CudaBatchOptions& options) {                      \
    run(alpha, a, b, beta, c, offsets, stream, options);                                       \
  }                                                                                            \
  void gemm_grouped(float alpha, const MatrixView<const In>& a, const MatrixView<const In>& b, \
                    float beta, const BatchView<Out>& c, const std::int32_t* offsets,          \
                    CudaStream stream, const CudaBatchOptions& options) {                      \
    run(alpha, a, b, beta, c, offsets, stream, options);                                       \
  }
RUNG_GEMM_GROUPED(bfloat16, float)
RUNG_GEMM_GROUPED(float16, float)
RUNG_GEMM_GROUPED(bfloat16, bfloat16)
RUNG_GEMM_GROUPED(float16, float16)
RUNG_GEMM_GROUPED(float8_e4m3, float)
#undef RUNG_GEMM_GROUPED

}  // namespace rung
