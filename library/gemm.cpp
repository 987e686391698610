// CPU products: from public views to the rung that the rules select.

#include "library/gemm.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

#include "core/dtype.hpp"
#include "device/cpu/rung.hpp"
#include "device/cpu/workspace.hpp"
#include "library/check_overlap.hpp"
#include "library/converted.hpp"
#include "library/mode_environment.hpp"
#include "library/multiply_surely.hpp"
#include "library/public_types.hpp"
#include "library/reproducible.hpp"
#include "rung/gemm.hpp"
#include "select/cpu/select.hpp"

namespace rung {
namespace {

/// The memory that products need in addition to scratch memory, in bytes.
std::size_t bytes_of(const CanonicalCall& largest, ComputeMode mode) {
  const GemmCall& call = largest.call;
  if (!largest.multiplies) return 0;
  if (cpu::converts(call.dtype)) return cpu::bytes_to_convert(largest);
  const bool is_in_digits = call.dtype == Dtype::f32 && mode == ComputeMode::reproducible;
  return is_in_digits ? reproducible_bytes(call.m, call.n, call.k) : 0;
}

/// Runs the implementation of a mode that is not a rung; all other combinations of types and modes
/// have rungs.
template <class In, class Out>
void run_in_mode(const Gemm<In, Out>& g, const GemmShape& shape, int threads) {
  if constexpr (std::is_same_v<In, float>) {
    if (shape.compute_mode == ComputeMode::reproducible) {
      cpu::reserve_last_resort();
      const auto memory =
          std::make_unique_for_overwrite<std::byte[]>(reproducible_bytes(g.m, g.n, g.k));
      return reproducible_gemm(g, threads, memory.get());
    }
  }
  const GemmChoice choice = choose_gemm(shape, threads);
  choice.rung->function<In, Out>()(g, choice.threads);
}

/// True if the ranges from the first to the last element of two row-major matrices share bytes.
template <class T>
[[gnu::always_inline]] inline bool may_overlap(const MatrixView<T>& x,
                                               const MatrixView<const T>& y) {
  const auto first_x = reinterpret_cast<std::uintptr_t>(x.data),
             first_y = reinterpret_cast<std::uintptr_t>(y.data);
  const auto bytes = [](const auto& view) {
    return static_cast<std::uintptr_t>((view.rows - 1) * view.ld + view.cols) * sizeof(T);
  };
  return first_x - first_y < bytes(y) || first_y - first_x < bytes(x);
}

/// The rung for a small product of row-major matrices in standard mode, whose time is dominated by
/// call overhead: a few combined tests of many numbers. Null if run() must check each argument.
template <class T>
[[gnu::always_inline]] inline const Named<cpu::GemmRung>* rung_of_plain_call(
    T alpha, const MatrixView<const T>& a, const MatrixView<const T>& b, const MatrixView<T>& c,
    const GemmOptions& options) {
  using Bits = std::uint64_t;  // negative numbers become large ones
  constexpr int size_bits = 10, stride_bits = 40;
  const Bits m = Bits(c.rows), n = Bits(c.cols), k = Bits(a.cols);
  const Bits differences = (Bits(a.rows) ^ m) | (Bits(b.cols) ^ n) | (Bits(b.rows) ^ k);
  // Tests that sizes are from 1 to 1024 and leading dimensions are at least the row lengths.
  const Bits sizes = (m - 1) | (n - 1) | (k - 1);
  const Bits gaps = (Bits(a.ld) - k) | (Bits(b.ld) - n) | (Bits(c.ld) - n);
  const int kinds = static_cast<int>(a.order) | static_cast<int>(b.order) |
                    static_cast<int>(c.order) | static_cast<int>(options.compute_mode);
  static_assert(static_cast<int>(Order::row_major) == 0 &&
                static_cast<int>(ComputeMode::standard) == 0);
  if ((differences | sizes >> size_bits | gaps >> stride_bits) != 0 || kinds != 0 ||
      options.threads < 0 || a.data == nullptr || b.data == nullptr || c.data == nullptr ||
      alpha == T{} || may_overlap(c, a) || may_overlap(c, b)) {
    return nullptr;
  }
  return rung_of_small(c.rows, c.cols, a.cols, Order::row_major, Order::row_major);
}

template <class In, class Out>
[[gnu::noinline]] void run(Out alpha, const MatrixView<const In>& a, const MatrixView<const In>& b,
                           Out beta, const MatrixView<Out>& c, const GemmOptions& options) {
  const auto environment = environment_of(options.compute_mode);
  check::threads("gemm", options.threads);
  check::compute_mode("gemm", options.compute_mode);
  check::has_mode(dtype_of<Kernel<In>, Kernel<Out>>(), options.compute_mode);
  const auto call = canonical(alpha, a, b, beta, c);
  const auto& problem = call.problem;
  if (!call.multiplies) return cpu::scale(problem);
  check::apart("gemm", erased(call).call);
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

template <class In, class Out>
[[gnu::always_inline]] inline void run_small_or_any(Out alpha, const MatrixView<const In>& a,
                                                    const MatrixView<const In>& b, Out beta,
                                                    const MatrixView<Out>& c,
                                                    const GemmOptions& options) {
  if constexpr (std::is_floating_point_v<In>) {
    if (const Named<cpu::GemmRung>* const small = rung_of_plain_call(alpha, a, b, c, options)) {
      return small->rung->function<In, Out>()({.m = c.rows,
                                               .n = c.cols,
                                               .k = a.cols,
                                               .alpha = alpha,
                                               .a = {a.data, a.ld, 1},
                                               .b = {b.data, b.ld, 1},
                                               .beta = beta,
                                               .c = {c.data, c.ld, 1}},
                                              1);
    }
  }
  run(alpha, a, b, beta, c, options);
}

}  // namespace

void cpu::refuse(Dtype dtype) {
  throw Error(Status::unavailable,
              "rung: gemm: no kernel of " + std::string(name(dtype)) +
                  " for CPUs; f32, f64, i32, bf16, f16, i8, e4m3 and e5m2 have one");
}

cpu::Products::Products(const CanonicalCall& largest, const GemmOptions& options)
    : options_(options) {
  check::has_mode(largest.call.dtype, options.compute_mode);
  reserve_last_resort();
  const std::size_t bytes = bytes_of(largest, options.compute_mode);
  if (bytes > 0) memory_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
}

void cpu::Products::run(const CanonicalCall& canonical) const {
  const GemmCall& call = canonical.call;
  if (converts(call.dtype)) return gemm_converted(canonical, options_, memory_.get());
  visit(call.dtype, [&]<class In, class Out>(Elements<In, Out>) {
    if constexpr (!cpu::has_gemm<In, Out>) {
      refuse(call.dtype);
    } else {
      const Gemm<In, Out> g = call.typed<In, Out>();
      if (!canonical.multiplies) return scale(g);
      if constexpr (std::is_same_v<In, float>) {
        if (options_.compute_mode == ComputeMode::reproducible) {
          return reproducible_gemm(g, options_.threads, memory_.get());
        }
      }
      multiply_surely(g,
                      {.dtype = call.dtype,
                       .m = call.m,
                       .n = call.n,
                       .k = call.k,
                       .a = canonical.a,
                       .b = canonical.b,
                       .compute_mode = options_.compute_mode},
                      options_.threads);
    }
  });
}

void cpu::gemm(const CanonicalCall& canonical, const GemmOptions& options) {
  if (canonical.multiplies) check::apart("gemm", canonical.call);
  Products(canonical, options).run(canonical);
}

#define RUNG_DEFINE_GEMM(suffix, In, Out, InC, OutC)                                         \
  void gemm(Scalar<Out> alpha, const MatrixView<const In>& a, const MatrixView<const In>& b, \
            Scalar<Out> beta, const MatrixView<Out>& c, const GemmOptions& options) {        \
    run_small_or_any(alpha, a, b, beta, c, options);                                         \
  }
RUNG_CPU_GEMM_TYPES(RUNG_DEFINE_GEMM)
#undef RUNG_DEFINE_GEMM

}  // namespace rung
