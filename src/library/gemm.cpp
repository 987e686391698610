// On the CPU: from the public views to the rung that the rules select.

#include "library/gemm.hpp"

#include <cstdint>
#include <string>
#include <type_traits>

#include "core/dtype.hpp"
#include "library/converted.hpp"
#include "library/cost_model.hpp"
#include "library/reproducible.hpp"
#include "library/select.hpp"
#include "rung/gemm.hpp"

namespace rung {
namespace {

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
  if (!call.multiplies) return cpu::scale(problem);
  if constexpr (std::is_same_v<In, Out> && std::is_floating_point_v<In>) {
    const bool is_standard = options.compute_mode == ComputeMode::standard;
    const Named<cpu::GemmRung>* const small =
        is_standard ? rung_of_small(problem.m, problem.n, problem.k, call.a, call.b) : nullptr;
    if (small != nullptr) return small->rung->function<In, Out>()(problem, 1);
  }
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

void cpu::refuse(Dtype dtype) {
  throw Error(Status::unavailable,
              "rung: gemm: no kernel of " + std::string(name(dtype)) +
                  " for CPUs; f32, f64, i32, bf16, f16, i8, e4m3 and e5m2 have one");
}

void cpu::gemm(const CanonicalCall& canonical, const GemmOptions& options) {
  GemmCall problem = canonical.call;
  problem.compute_mode = options.compute_mode;
  check::has_mode(problem.dtype, problem.compute_mode);
  if (converts(problem.dtype)) return gemm_converted(canonical, options);
  visit(problem.dtype, [&]<class In, class Out>(Elements<In, Out>) {
    if constexpr (!cpu::has_gemm<In, Out>) {
      refuse(problem.dtype);
    } else {
      const Gemm<In, Out> g = problem.typed<In, Out>();
      if (!canonical.multiplies) return scale(g);
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
