// On a GPU: from the public views to the rung that the rules select, in the caller's stream.

#include <cstdint>

#include "library/canonical.hpp"
#include "library/cuda/launch.hpp"
#include "library/select.hpp"
#include "rung/cuda.hpp"

namespace rung {

extern const cuda::GemmRung gemm_cuda_library_scale;

namespace {

/// C = beta * C. Loaded and launched like a rung.
constexpr CudaGemmChoice scale = {cuda::gemm_rungs.size(), "gemm/cuda/scale",
                                  &gemm_cuda_library_scale};

cuda::Stream handle_of(CudaStream stream) { return static_cast<cuda::Stream>(stream.handle()); }

template <class In, class Out>
void run(Scalar<Out> alpha, const MatrixView<const In>& a, const MatrixView<const In>& b,
         Scalar<Out> beta, const MatrixView<Out>& c, CudaStream stream,
         const CudaOptions& options) {
  check::workspace("gemm", options.workspace, options.workspace_bytes);
  const auto call = canonical(alpha, a, b, beta, c);
  const auto& problem = call.problem;
  if (problem.m == 0 || problem.n == 0) return;
  if (!call.multiplies && beta == Scalar<Out>{1}) return;
  cuda::ContextCache& context = cuda::current_context();
  const cuda::WorkspaceSource workspace{context, handle_of(stream), options.workspace,
                                        options.workspace_bytes};
  if (!call.multiplies) {
    using Result = Kernel<Out>;
    const Gemm<Result, Result> scaled = {problem.m, problem.n,    0,        problem.alpha, {},
                                         {},        problem.beta, problem.c};
    return cuda::launch_gemm(workspace, scale, scaled);
  }
  const CudaGemmShape shape = {.dtype = dtype_of<Kernel<In>, Kernel<Out>>(),
                               .m = problem.m,
                               .n = problem.n,
                               .k = problem.k,
                               .a = call.a,
                               .b = call.b,
                               .alignment = alignment_of(problem),
                               .arch = context.arch(),
                               .bytes_for_copies = workspace.bytes_for_copies()};
  const CudaGemmChoice choice = choose_cuda_gemm(shape);
  if (choice.rung->launches.template of<Kernel<In>, Kernel<Out>>() == nullptr) refuse(shape);
  cuda::launch_gemm(workspace, context.planned(choice, shape.dtype, problem), problem);
}

}  // namespace

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
