// On the CPU: from the public views to the rung that the rules select.

#include "library/gemm.hpp"

#include <cstdint>
#include <string>
#include <type_traits>

#include "core/dtype.hpp"
#include "library/cheapest_gemm.hpp"
#include "library/converted.hpp"
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

/// The rung for a small product of row-major matrices in standard mode, whose time is mostly that of
/// the call: a few tests of many numbers at once. Null where run() is to look at each argument.
template <class T>
[[gnu::always_inline]] inline const Named<cpu::GemmRung>* rung_of_plain_call(
    T alpha, const MatrixView<const T>& a, const MatrixView<const T>& b, const MatrixView<T>& c,
    const GemmOptions& options) {
  using Bits = std::uint64_t;  // negative numbers become large ones
  constexpr int size_bits = 10, stride_bits = 40;
  const Bits m = Bits(c.rows), n = Bits(c.cols), k = Bits(a.cols);
  const Bits differences = (Bits(a.rows) ^ m) | (Bits(b.cols) ^ n) | (Bits(b.rows) ^ k);
  // Sizes from 1 to 1024, and rows no longer than the leading dimensions.
  const Bits sizes = (m - 1) | (n - 1) | (k - 1);
  const Bits gaps = (Bits(a.ld) - k) | (Bits(b.ld) - n) | (Bits(c.ld) - n);
  const int kinds = static_cast<int>(a.order) | static_cast<int>(b.order) |
                    static_cast<int>(c.order) | static_cast<int>(options.compute_mode);
  static_assert(static_cast<int>(Order::row_major) == 0 &&
                static_cast<int>(ComputeMode::standard) == 0);
  if ((differences | sizes >> size_bits | gaps >> stride_bits) != 0 || kinds != 0 ||
      options.threads < 0 || a.data == nullptr || b.data == nullptr || c.data == nullptr ||
      alpha == T{}) {
    return nullptr;
  }
  return rung_of_small(c.rows, c.cols, a.cols, Order::row_major, Order::row_major);
}

template <class In, class Out>
[[gnu::noinline]] void run(Out alpha, const MatrixView<const In>& a, const MatrixView<const In>& b,
                           Out beta, const MatrixView<Out>& c, const GemmOptions& options) {
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

template <class T>
[[gnu::always_inline]] inline void run_floats(T alpha, const MatrixView<const T>& a,
                                              const MatrixView<const T>& b, T beta,
                                              const MatrixView<T>& c, const GemmOptions& options) {
  const Named<cpu::GemmRung>* const small = rung_of_plain_call(alpha, a, b, c, options);
  if (small == nullptr) return run(alpha, a, b, beta, c, options);
  small->rung->function<T, T>()({.m = c.rows,
                                 .n = c.cols,
                                 .k = a.cols,
                                 .alpha = alpha,
                                 .a = {a.data, a.ld, 1},
                                 .b = {b.data, b.ld, 1},
                                 .beta = beta,
                                 .c = {c.data, c.ld, 1}},
                                1);
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
  run_floats(alpha, a, b, beta, c, options);
}

void gemm(double alpha, const MatrixView<const double>& a, const MatrixView<const double>& b,
          double beta, const MatrixView<double>& c, const GemmOptions& options) {
  run_floats(alpha, a, b, beta, c, options);
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
