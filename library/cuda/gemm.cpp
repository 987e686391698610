// GPU products: from public views to the rung that the rules select, in the caller's stream.

#include "library/cuda/gemm.hpp"

#include <cstdint>

#include "library/check_overlap.hpp"
#include "library/cuda/launch.hpp"
#include "library/public_types.hpp"
#include "rung/cuda.hpp"

namespace rung {
namespace {

cuda::Stream handle_of(CudaStream stream) { return static_cast<cuda::Stream>(stream.handle()); }

template <class In, class Out>
void run(Scalar<Out> alpha, const MatrixView<const In>& a, const MatrixView<const In>& b,
         Scalar<Out> beta, const MatrixView<Out>& c, CudaStream stream,
         const CudaOptions& options) {
  check::workspace("gemm", options.workspace, options.workspace_bytes);
  check::multiprocessors("gemm", options.multiprocessors);
  check::compute_mode("gemm", options.compute_mode);
  cuda::gemm(erased(canonical(alpha, a, b, beta, c)), handle_of(stream), options);
}

/// The dtype with C's type for all matrices, for the kernels that scale C.
Dtype type_of_c(Dtype dtype) {
  return visit(dtype, []<class In, class Out>(Elements<In, Out>) { return dtype_of<Out, Out>(); });
}

}  // namespace

void cuda::add_gemm(LaunchSequence& sequence, const CanonicalCall& canonical,
                    const CudaOptions& options) {
  GemmCall problem = canonical.call;
  problem.compute_mode = options.compute_mode;
  if (!canonical.multiplies && problem.beta == 1) return;
  const WorkspaceSource& workspace = sequence.workspace();
  const Limits limits = limits_of_call(workspace, options.multiprocessors);
  if (!canonical.multiplies) {
    problem.dtype = type_of_c(problem.dtype);
    problem.k = 0;
    problem.a = problem.b = {};
    return add_gemm(sequence, scale, problem, limits.multiprocessors);
  }
  const CudaGemmShape shape = {.dtype = problem.dtype,
                               .m = problem.m,
                               .n = problem.n,
                               .k = problem.k,
                               .a = canonical.a,
                               .b = canonical.b,
                               .alignment = alignment_of(problem),
                               .arch = workspace.context.arch(),
                               .compute_mode = problem.compute_mode,
                               .alignment_of_ab = alignment_of_ab(problem),
                               .bytes_for_copies = workspace.bytes_for_copies()};
  const CudaGemmChoice choice = choose_cuda_gemm(shape);
  if (!has(*choice.rung, problem.dtype)) refuse(shape);
  add_gemm(sequence, config_in_mode(workspace, choice, problem, limits), problem,
           limits.multiprocessors);
}

void cuda::gemm(const CanonicalCall& canonical, Stream stream, const CudaOptions& options) {
  const GemmCall& problem = canonical.call;
  check::has_mode(problem.dtype, options.compute_mode);
  if (problem.m == 0 || problem.n == 0) return;
  if (!canonical.multiplies && problem.beta == 1) return;
  require_aligned("gemm", problem);
  if (canonical.multiplies) check::apart("gemm", problem);
  LaunchSequence sequence({current_context(), stream, options.workspace, options.workspace_bytes});
  add_gemm(sequence, canonical, options);
  sequence.enqueue();
}

#define RUNG_DEFINE_GEMM(suffix, In, Out, InC, OutC)                                         \
  void gemm(Scalar<Out> alpha, const MatrixView<const In>& a, const MatrixView<const In>& b, \
            Scalar<Out> beta, const MatrixView<Out>& c, CudaStream stream,                   \
            const CudaOptions& options) {                                                    \
    run(alpha, a, b, beta, c, stream, options);                                              \
  }
RUNG_CUDA_GEMM_TYPES(RUNG_DEFINE_GEMM)
#undef RUNG_DEFINE_GEMM

void release_cuda_workspace(CudaStream stream) {
  cuda::ContextCache& context = cuda::current_context();
  context.workspaces().release(context.api(), handle_of(stream));
  context.pool().trim(context.api());
}

}  // namespace rung
