// CPU batches: one choice of a rung, and a parallel loop over the products.

#include "library/gemm_batched.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <string>

#include "backends/rungs/cpu.hpp"
#include "core/batch.hpp"
#include "core/integers.hpp"
#include "device/cpu/parallel.hpp"
#include "device/cpu/rung.hpp"
#include "device/cpu/workspace.hpp"
#include "library/canonical_batch.hpp"
#include "library/check_overlap.hpp"
#include "library/converted.hpp"
#include "library/gemm.hpp"
#include "library/mode_environment.hpp"
#include "library/public_types.hpp"
#include "rung/batch.hpp"
#include "select/cpu/select.hpp"

namespace rung {
namespace {

/// Multiply-adds that take a few times as long as starting a loop on another thread.
constexpr double work_per_thread = 1 << 19;
/// The number of parts into which a thread's share of the products is divided, in case other
/// threads are delayed.
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

/// The number of threads that share the products. Only the caller if there are fewer products than
/// threads and each product is large enough to be shared itself.
int threads_for_batch(const GemmCall& call, const GemmChoice& alone, int limit) {
  if (alone.threads > 1 && call.batch < 2 * alone.threads) return 1;
  const double all = work_of(call) * static_cast<double>(call.batch);
  const int threads = detail::threads_for(all, work_per_thread, limit);
  return static_cast<int>(std::min<std::int64_t>(threads, call.batch));
}

template <class In, class Out>
void run_product(const CanonicalCall& canonical, std::int64_t product, const GemmChoice& choice) {
  const Gemm<In, Out> g = product_of<In, Out>(canonical.call, product);
  if (!canonical.multiplies) return cpu::scale(g);
  choice.rung->function<In, Out>()(g, choice.threads);
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
  const std::int64_t parts =
      threads == 1 ? 1 : std::min(call.batch, std::int64_t{threads} * parts_of_thread);
  const std::int64_t in_part = ceil_div(call.batch, parts);
  const auto end_of = [&](std::int64_t part) { return std::min(call.batch, (part + 1) * in_part); };
  // For each part, the first product for which its thread lacked memory.
  std::int64_t of_one;
  const auto of_parts =
      parts == 1 ? nullptr
                 : std::make_unique_for_overwrite<std::int64_t[]>(static_cast<std::size_t>(parts));
  std::int64_t* const left = parts == 1 ? &of_one : of_parts.get();
  cpu::reserve_last_resort();
  cpu::parallel_for(parts, threads, [&](std::int64_t part) {
    std::int64_t product = part * in_part;
    try {
      for (; product < end_of(part); ++product) run_product<In, Out>(canonical, product, choice);
    } catch (const std::bad_alloc&) {  // the caller computes the remaining products
    }
    left[part] = product;
  });
  const GemmChoice slow = {nullptr, &gemm_cpu_cache_blocks, 1};
  for (std::int64_t part = 0; part < parts; ++part) {
    for (; left[part] < end_of(part); ++left[part]) {
      run_product<In, Out>(canonical, left[part], slow);
    }
  }
}

/// Computes products that need more than scratch memory, one after another.
void run_one_by_one(CanonicalCall canonical, const GemmOptions& options) {
  GemmCall& call = canonical.call;
  const std::int64_t products = call.batch;
  call.batch = 1;
  const cpu::Products all(canonical, options);
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
    all.run(one);
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
  const auto environment = environment_of(options.compute_mode);
  const GemmCall& call = canonical.call;
  check::has_mode(call.dtype, options.compute_mode);
  check::pointers("gemm_batched: A", call.a, call.batch);
  check::pointers("gemm_batched: B", call.b, call.batch);
  check::pointers("gemm_batched: C", call.c, call.batch);
  if (call.batch == 0) return;
  if (canonical.multiplies) check::apart("gemm_batched", call);
  const bool is_in_digits =
      call.dtype == Dtype::f32 && options.compute_mode == ComputeMode::reproducible;
  if (is_in_digits || converts(call.dtype)) return run_one_by_one(canonical, options);
  visit(call.dtype, [&]<class In, class Out>(Elements<In, Out>) {
    if constexpr (cpu::has_gemm<In, Out>) {
      run_products<In, Out>(canonical, options);
    } else {
      cpu::refuse(call.dtype);
    }
  });
}

#define RUNG_DEFINE_BATCHED(suffix, In, Out, InC, OutC)                                            \
  void gemm_batched(Scalar<Out> alpha, const BatchView<const In>& a, const BatchView<const In>& b, \
                    Scalar<Out> beta, const BatchView<Out>& c, const GemmOptions& options) {       \
    run(alpha, a, b, beta, c, options);                                                            \
  }
RUNG_CPU_GEMM_TYPES(RUNG_DEFINE_BATCHED)
#undef RUNG_DEFINE_BATCHED

}  // namespace rung
