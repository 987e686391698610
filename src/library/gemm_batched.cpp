// On the CPU: a batch is one choice of a rung, and a loop over its products that threads share.

#include "library/gemm_batched.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

#include "core/batch.hpp"
#include "core/integers.hpp"
#include "device/cpu/parallel.hpp"
#include "library/canonical_batch.hpp"
#include "library/converted.hpp"
#include "library/gemm.hpp"
#include "library/select.hpp"
#include "rung/batch.hpp"

namespace rung {
namespace {

/// Multiply-adds that take a few times as long as to hand a loop to another thread.
constexpr double work_per_thread = 1 << 19;
/// A thread takes its share of the products in so many parts, because others may be delayed.
constexpr std::int64_t parts_of_thread = 8;

template <class Pointer, class T>
Matrix<T> matrix_of(const AnyMatrix<Pointer>& operand, std::int64_t product) {
  Matrix<T> matrix = operand.template as<T>();
  if (operand.pointers != nullptr) {
    matrix.data = static_cast<T*>(operand.pointers[product]);
  } else {
    matrix.data += product * operand.batch_stride;
  }
  return matrix;
}

template <class In, class Out>
Gemm<In, Out> product_of(const GemmCall& call, std::int64_t product) {
  Gemm<In, Out> g = call.typed<In, Out>();
  if (call.k > 0) {
    g.a = matrix_of<const void*, const In>(call.a, product);
    g.b = matrix_of<const void*, const In>(call.b, product);
  }
  g.c = matrix_of<void*, Out>(call.c, product);
  return g;
}

double work_of(const GemmCall& call) {
  const auto k = static_cast<double>(std::max<std::int64_t>(call.k, 1));
  return static_cast<double>(call.m) * static_cast<double>(call.n) * k;
}

/// Threads that share the products: none but the caller where there are fewer products than
/// threads, and each is large enough to be shared itself.
int threads_for_batch(const GemmCall& call, const GemmChoice& alone, int limit) {
  if (alone.threads > 1 && call.batch < 2 * alone.threads) return 1;
  const double all = work_of(call) * static_cast<double>(call.batch);
  const int threads = detail::threads_for(all, work_per_thread, limit);
  return static_cast<int>(std::min<std::int64_t>(threads, call.batch));
}

template <class In, class Out>
void run_products(const CanonicalCall& canonical, const GemmOptions& options) {
  const GemmCall& call = canonical.call;
  const GemmShape shape{.dtype = call.dtype,
                        .m = call.m,
                        .n = call.n,
                        .k = call.k,
                        .a = canonical.a,
                        .b = canonical.b,
                        .compute_mode = options.compute_mode};
  const GemmChoice alone = choose_gemm(shape, options.threads);
  const int threads = threads_for_batch(call, alone, options.threads);
  const GemmChoice choice = threads > 1 ? choose_gemm(shape, 1) : alone;
  const auto function = choice.rung->function<In, Out>();
  const std::int64_t parts =
      threads == 1 ? 1 : std::min(call.batch, std::int64_t{threads} * parts_of_thread);
  const std::int64_t in_part = ceil_div(call.batch, parts);
  cpu::parallel_for(parts, threads, [&](std::int64_t part) {
    const std::int64_t end = std::min(call.batch, (part + 1) * in_part);
    for (std::int64_t product = part * in_part; product < end; ++product) {
      const Gemm<In, Out> g = product_of<In, Out>(call, product);
      if (canonical.multiplies) {
        function(g, choice.threads);
      } else {
        cpu::scale(g);
      }
    }
  });
}

/// The same of types that no rung has, one product after the other.
void run_converted(CanonicalCall canonical, const GemmOptions& options) {
  GemmCall& call = canonical.call;
  const std::int64_t products = call.batch;
  call.batch = 1;
  const auto take = [](auto& operand) {
    if (operand.pointers != nullptr) operand.data = *operand.pointers;
  };
  for (std::int64_t i = 0; i < products; ++i) {
    CanonicalCall one = canonical;
    if (one.multiplies) {
      take(one.call.a);
      take(one.call.b);
    }
    take(one.call.c);
    cpu::gemm_converted(one, options);
    advance(call, 1);
  }
}

template <class In, class Out>
void run(Scalar<Out> alpha, const BatchView<const In>& a, const BatchView<const In>& b,
         Scalar<Out> beta, const BatchView<Out>& c, const GemmOptions& options) {
  check::threads("gemm_batched", options.threads);
  check::compute_mode("gemm_batched", options.compute_mode);
  cpu::gemm_batched(canonical(alpha, a, b, beta, c), options);
}

}  // namespace

void cpu::gemm_batched(const CanonicalCall& canonical, const GemmOptions& options) {
  const GemmCall& call = canonical.call;
  check::pointers("gemm_batched: A", call.a, call.batch);
  check::pointers("gemm_batched: B", call.b, call.batch);
  check::pointers("gemm_batched: C", call.c, call.batch);
  if (call.batch == 0) return;
  if (converts(call.dtype)) {
    check::has_mode(call.dtype, options.compute_mode);
    return run_converted(canonical, options);
  }
  visit(call.dtype, [&]<class In, class Out>(Elements<In, Out>) {
    if constexpr (cpu::has_gemm<In, Out>) {
      run_products<In, Out>(canonical, options);
    } else {
      cpu::refuse(call.dtype);
    }
  });
}

void gemm_batched(float alpha, const BatchView<const float>& a, const BatchView<const float>& b,
                  float beta, const BatchView<float>& c, const GemmOptions& options) {
  run(alpha, a, b, beta, c, options);
}

void gemm_batched(double alpha, const BatchView<const double>& a, const BatchView<const double>& b,
                  double beta, const BatchView<double>& c, const GemmOptions& options) {
  run(alpha, a, b, beta, c, options);
}

void gemm_batched(std::int32_t alpha, const BatchView<const std::int32_t>& a,
                  const BatchView<const std::int32_t>& b, std::int32_t beta,
                  const BatchView<std::int32_t>& c, const GemmOptions& options) {
  run(alpha, a, b, beta, c, options);
}

void gemm_batched(float alpha, const BatchView<const bfloat16>& a,
                  const BatchView<const bfloat16>& b, float beta, const BatchView<float>& c,
                  const GemmOptions& options) {
  run(alpha, a, b, beta, c, options);
}

void gemm_batched(float alpha, const BatchView<const float16>& a, const BatchView<const float16>& b,
                  float beta, const BatchView<float>& c, const GemmOptions& options) {
  run(alpha, a, b, beta, c, options);
}

void gemm_batched(std::int32_t alpha, const BatchView<const std::int8_t>& a,
                  const BatchView<const std::int8_t>& b, std::int32_t beta,
                  const BatchView<std::int32_t>& c, const GemmOptions& options) {
  run(alpha, a, b, beta, c, options);
}

}  // namespace rung
