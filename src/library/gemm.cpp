// On the CPU: from the public views to the rung that the rules select.

#include "library/gemm.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>

#include "core/dtype.hpp"
#include "library/reproducible.hpp"
#include "library/select.hpp"
#include "rung/gemm.hpp"

namespace rung {
namespace {

/// C = beta * C.
template <class Out>
void scale(std::int64_t m, std::int64_t n, Out beta, const Matrix<Out>& c) {
  if (n == 0 || beta == Out{1}) return;
  for (std::int64_t i = 0; i < m; ++i) {
    Out* row = &c(i, 0);
    if (beta == Out{}) {
      std::fill_n(row, n, Out{});
    } else {
      std::for_each_n(row, n, [beta](Out& element) { element *= beta; });
    }
  }
}

/// Runs what computes in the mode: all other combinations of types and modes have a rung.
template <class In, class Out>
void run_in_mode(const Gemm<In, Out>& g, const GemmShape& shape, int threads) {
  if constexpr (std::is_same_v<In, float>) {
    if (shape.compute_mode == ComputeMode::reproducible) return reproducible_gemm(g, threads);
  }
  const GemmChoice choice = choose_gemm(shape, threads);
  choice.rung->function<In, Out>()(g, choice.threads);
}

template <class In, class Out>
void run(Out alpha, const MatrixView<const In>& a, const MatrixView<const In>& b, Out beta,
         const MatrixView<Out>& c, const GemmOptions& options) {
  check::threads("gemm", options.threads);
  check::compute_mode("gemm", options.compute_mode);
  check::has_mode(dtype_of<Kernel<In>, Kernel<Out>>(), options.compute_mode);
  const auto call = canonical(alpha, a, b, beta, c);
  const auto& problem = call.problem;
  if (!call.multiplies) return scale(problem.m, problem.n, problem.beta, problem.c);
  const GemmShape shape{.dtype = dtype_of<Kernel<In>, Kernel<Out>>(),
                        .m = problem.m,
                        .n = problem.n,
                        .k = problem.k,
                        .a = call.a,
                        .b = call.b,
                        .compute_mode = options.compute_mode};
  run_in_mode(problem, shape, options.threads);
}

}  // namespace

void cpu::gemm(const CanonicalCall& canonical, const GemmOptions& options) {
  GemmCall problem = canonical.call;
  problem.compute_mode = options.compute_mode;
  check::has_mode(problem.dtype, problem.compute_mode);
  visit(problem.dtype, [&]<class In, class Out>(Elements<In, Out>) {
    if constexpr (!cpu::has_gemm<In, Out>) {
      throw Error(Status::unavailable, "rung: gemm: no kernel of " +
                                           std::string(name(problem.dtype)) +
                                           " for CPUs; f32, f64, i32, bf16, f16 and i8 have one");
    } else {
      const Gemm<In, Out> g = problem.typed<In, Out>();
      if (!canonical.multiplies) return scale(g.m, g.n, g.beta, g.c);
      const GemmShape shape{.dtype = problem.dtype,
                            .m = problem.m,
                            .n = problem.n,
                            .k = problem.k,
                            .a = canonical.a,
                            .b = canonical.b,
                            .compute_mode = problem.compute_mode};
      run_in_mode(g, shape, options.threads);
    }
  });
}

void gemm(float alpha, const MatrixView<const float>& a, const MatrixView<const float>& b,
          float beta, const MatrixView<float>& c, const GemmOptions& options) {
  run(alpha, a, b, beta, c, options);
}

void gemm(double alpha, const MatrixView<const double>& a, const MatrixView<const double>& b,
          double beta, const MatrixView<double>& c, const GemmOptions& options) {
  run(alpha, a, b, beta, c, options);
}

void gemm(std::int32_t alpha, const MatrixView<const std::int32_t>& a,
          const MatrixView<const std::int32_t>& b, std::int32_t beta,
          const MatrixView<std::int32_t>& c, const GemmOptions& options) {
  run(alpha, a, b, beta, c, options);
}

void gemm(float alpha, const MatrixView<const bfloat16>& a, const MatrixView<const bfloat16>& b,
          float beta, const MatrixView<float>& c, const GemmOptions& options) {
  run(alpha, a, b, beta, c, options);
}

void gemm(float alpha, const MatrixView<const float16>& a, const MatrixView<const float16>& b,
          float beta, const MatrixView<float>& c, const GemmOptions& options) {
  run(alpha, a, b, beta, c, options);
}

void gemm(std::int32_t alpha, const MatrixView<const std::int8_t>& a,
          const MatrixView<const std::int8_t>& b, std::int32_t beta,
          const MatrixView<std::int32_t>& c, const GemmOptions& options) {
  run(alpha, a, b, beta, c, options);
}

}  // namespace rung
