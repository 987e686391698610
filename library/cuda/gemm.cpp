// GPU products: from public views to the rung that the rules select, in the caller's stream.

#include "library/cuda/gemm.hpp"

#include <cstdint>

#include "library/check_overlap.hpp"
#include "library/cuda/launch.hpp"
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

void gemm(float alpha, const MatrixView<const float>& a, const MatrixView<const float>& b,
          float beta, const MatrixView<float>& c, CudaStream stream, const CudaOptions& options) {
  run(alpha, a, b, beta, c, stream, options);
}

void gemm(double alpha, const MatrixView<const double>& a, const MatrixView<const double>& b,
          double beta, const MatrixView<double>& c, CudaStream stream, const CudaOptions& options) {
  run(alpha, a, b, beta, c, stream, options);
}

void gemm(std::int32_t alpha, const MatrixView<const std::int32_t>& a,
          const MatrixView<const std::int32_t>& b, std::int32_t beta,
          const MatrixView<std::int32_t>& c, CudaStream stream, const CudaOptions& options) {
  run(alpha, a, b, beta, c, stream, options);
}

void gemm(float alpha, const MatrixView<const bfloat16>& a, const MatrixView<const bfloat16>& b,
          float beta, const MatrixView<float>& c, CudaStream stream, const CudaOptions& options) {
  run(alpha, a, b, beta, c, stream, options);
}

void gemm(float alpha, const MatrixView<const float16>& a, const MatrixView<const float16>& b,
          float beta, const MatrixView<float>& c, CudaStream stream, const CudaOptions& options) {
  run(alpha, a, b, beta, c, stream, options);
}

void gemm(float alpha, const MatrixView<const bfloat16>& a, const MatrixView<const bfloat16>& b,
          float beta, const MatrixView<bfloat16>& c, CudaStream stream,
          const CudaOptions& options) {
  run(alpha, a, b, beta, c, stream, options);
}

void gemm(float alpha, const MatrixView<const float16>& a, const MatrixView<const float16>& b,
          float beta, const MatrixView<float16>& c, CudaStream stream, const CudaOptions& options) {
  run(alpha, a, b, beta, c, stream, options);
}

void gemm(float alpha, const MatrixView<const tfloat32>& a, const MatrixView<const tfloat32>& b,
          float beta, const MatrixView<float>& c, CudaStream stream, const CudaOptions& options) {
  run(alpha, a, b, beta, c, stream, options);
}

void gemm(std::int32_t alpha, const MatrixView<const std::int8_t>& a,
          const MatrixView<const std::int8_t>& b, std::int32_t beta,
          const MatrixView<std::int32_t>& c, CudaStream stream, const CudaOptions& options) {
  run(alpha, a, b, beta, c, stream, options);
}

void gemm(float alpha, const MatrixView<const float8_e4m3>& a,
          const MatrixView<const float8_e4m3>& b, float beta, const MatrixView<float>& c,
          CudaStream stream, const CudaOptions& options) {
  run(alpha, a, b, beta, c, stream, options);
}

void gemm(float alpha, const MatrixView<const float8_e5m2>& a,
          const MatrixView<const float8_e5m2>& b, float beta, const MatrixView<float>& c,
          CudaStream stream, const CudaOptions& options) {
  run(alpha, a, b, beta, c, stream, options);
}

void release_cuda_workspace(CudaStream stream) {
  cuda::ContextCache& context = cuda::current_context();
  context.workspaces().release(context.api(), handle_of(stream));
  context.pool().trim(context.api());
}

}  // namespace rung
