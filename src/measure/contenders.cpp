#include "measure/contenders.hpp"

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <type_traits>

#include "backends/cuda/dot_operands.hpp"
#include "backends/cuda/gemm_operands.hpp"
#include "core/kernel_error.hpp"
#include "measure/peers/gpu_batch.hpp"
#include "measure/peers/groups_on_gpu.hpp"
#include "rung/batch.hpp"
#include "rung/cuda.hpp"
#include "rung/dot.hpp"
#include "rung/gemm.hpp"
#include "rung/grouped.hpp"

namespace rung {
namespace {

// Kernels use unsigned 32-bit integers, the public interface signed ones.
template <class T>
using Public = std::conditional_t<std::is_same_v<T, std::uint32_t>, std::int32_t, T>;

/// Both strides of a single row or column that is stored transposed are 1.
template <class T>
bool is_row_major(const Matrix<T>& matrix, std::int64_t cols) {
  return matrix.col_stride == 1 && matrix.row_stride >= cols;
}

template <class T>
MatrixView<Public<T>> view(const Matrix<T>& matrix, std::int64_t rows, std::int64_t cols) {
  auto* data = reinterpret_cast<Public<T>*>(matrix.data);
  if (is_row_major(matrix, cols)) return row_major(data, rows, cols, matrix.row_stride);
  return col_major(data, rows, cols, matrix.col_stride);
}

template <class T>
MatrixView<const Public<T>> view(const Matrix<const T>& matrix, std::int64_t rows,
                                 std::int64_t cols) {
  const auto* data = reinterpret_cast<const Public<T>*>(matrix.data);
  if (is_row_major(matrix, cols)) return row_major(data, rows, cols, matrix.row_stride);
  return col_major(data, rows, cols, matrix.col_stride);
}

using Calls = std::function<void(std::int64_t)>;

struct OnGpu {
  CudaStream stream;
  CudaOptions options;
};

/// rung::gemm(), if it supports the types there.
template <class S, class A, class C>
auto gemm_at(const GemmOptions& cpu, S alpha, const A& a, const A& b, S beta, const C& c)
    -> decltype(gemm(alpha, a, b, beta, c, cpu)) {
  return gemm(alpha, a, b, beta, c, cpu);
}
template <class S, class A, class C>
auto gemm_at(const OnGpu& gpu, S alpha, const A& a, const A& b, S beta, const C& c)
    -> decltype(gemm(alpha, a, b, beta, c, gpu.stream, gpu.options)) {
  return gemm(alpha, a, b, beta, c, gpu.stream, gpu.options);
}

/// The same for rung::gemm_batched().
template <class S, class A, class C>
auto batch_at(const GemmOptions& cpu, S alpha, const A& a, const A& b, S beta, const C& c)
    -> decltype(gemm_batched(alpha, a, b, beta, c, cpu)) {
  return gemm_batched(alpha, a, b, beta, c, cpu);
}
template <class S, class A, class C>
auto batch_at(const OnGpu& gpu, S alpha, const A& a, const A& b, S beta, const C& c)
    -> decltype(gemm_batched(alpha, a, b, beta, c, gpu.stream)) {
  return gemm_batched(alpha, a, b, beta, c, gpu.stream, {.gemm = gpu.options});
}

/// Empty if the library does not support the types.
template <class Where>
Calls public_gemm(const GemmCall& call, const Where& where) {
  return visit(call.dtype, [&]<class In, class Out>(Elements<In, Out>) -> Calls {
    const Gemm<In, Out> g = call.typed<In, Out>();
    const auto a = view(g.a, g.m, g.k);
    const auto b = view(g.b, g.k, g.n);
    const auto c = view(g.c, g.m, g.n);
    const auto alpha = static_cast<Public<Scalar<Out>>>(g.alpha);
    const auto beta = static_cast<Public<Scalar<Out>>>(g.beta);
    if constexpr (requires { gemm_at(where, alpha, a, b, beta, c); }) {
      if (call.batch != 1) {
        const auto as = strided(a, call.batch, call.a.batch_stride);
        const auto bs = strided(b, call.batch, call.b.batch_stride);
        const auto cs = strided(c, call.batch, call.c.batch_stride);
        return [=](std::int64_t calls) {
          for (std::int64_t i = 0; i < calls; ++i) batch_at(where, alpha, as, bs, beta, cs);
        };
      }
      return [=](std::int64_t calls) {
        for (std::int64_t i = 0; i < calls; ++i) gemm_at(where, alpha, a, b, beta, c);
      };
    } else {
      return {};
    }
  });
}

/// The same for rung::gemm_grouped(), of rows.
template <class S, class A, class B, class C>
auto groups_at(const GemmOptions& cpu, S alpha, const A& a, const B& b, S beta, const C& c,
               const std::int32_t* offsets)
    -> decltype(gemm_grouped(alpha, a, b, beta, c, offsets, cpu)) {
  return gemm_grouped(alpha, a, b, beta, c, offsets, cpu);
}
template <class S, class A, class B, class C>
auto groups_at(const OnGpu& gpu, S alpha, const A& a, const B& b, S beta, const C& c,
               const std::int32_t* offsets)
    -> decltype(gemm_grouped(alpha, a, b, beta, c, offsets, gpu.stream)) {
  return gemm_grouped(alpha, a, b, beta, c, offsets, gpu.stream, {.gemm = gpu.options});
}

/// Empty if the library does not support the types.
template <class Where>
Calls public_groups(const GroupedCall& grouped, const Where& where) {
  const GemmCall& call = grouped.call;
  return visit(call.dtype, [&]<class In, class Out>(Elements<In, Out>) -> Calls {
    const Gemm<In, Out> g = call.typed<In, Out>();
    const auto a = view(g.a, g.m, g.k);
    const auto b = strided(view(g.b, g.k, g.n), call.batch, call.b.batch_stride);
    const auto c = view(g.c, g.m, g.n);
    const auto alpha = static_cast<Public<Scalar<Out>>>(g.alpha);
    const auto beta = static_cast<Public<Scalar<Out>>>(g.beta);
    const std::int32_t* const offsets = grouped.groups.offsets;
    if constexpr (requires { groups_at(where, alpha, a, b, beta, c, offsets); }) {
      return [=](std::int64_t calls) {
        for (std::int64_t i = 0; i < calls; ++i) groups_at(where, alpha, a, b, beta, c, offsets);
      };
    } else {
      return {};
    }
  });
}

/// The result of `bind` for a dot product, if rung::dot() supports its type.
template <class Bind>
Bound bind_dot(const DotCall& call, const Bind& bind) {
  if (!is_for_dot(call.dtype)) return {{}, fmt::format("dot has no {}", rung::name(call.dtype))};
  return visit_dot(call.dtype, [&]<class In, class Out>(Elements<In, Out> elements) -> Bound {
    if constexpr (std::is_integral_v<In>) {
      return {{}, "dot has no i32"};
    } else {
      if (call.y == nullptr) return {{}, "the library has no sum"};
      return {bind(elements), {}};
    }
  });
}

}  // namespace

Bound RungContender::bind(const GemmCall& call, int threads) const {
  if (auto reason = backend_.why_not(info_, call)) return {{}, *reason};
  return {backend_.bind(info_, call, threads), {}};
}

Bound RungContender::bind(const DotCall& call, int threads, void* result) const {
  if (auto reason = backend_.why_not(info_, call)) return {{}, *reason};
  return {backend_.bind(info_, call, threads, result), {}};
}

Bound LibraryContender::bind(const GemmCall& call, int threads) const {
  if (is_mixed_) return bind_mixed(call, threads);
  const Calls run = public_gemm(call, GemmOptions{.threads = threads, .compute_mode = mode_});
  if (!run) return {{}, fmt::format("has no {} on CPUs", rung::name(call.dtype))};
  return {run, {}};
}

Bound LibraryContender::bind_groups(const GroupedCall& call, int threads) const {
  const Calls run = public_groups(call, GemmOptions{.threads = threads});
  if (!run) return {{}, fmt::format("has no groups of {} on CPUs", rung::name(call.call.dtype))};
  return {run, {}};
}

Bound LibraryContender::bind(const DotCall& call, int threads, void* result) const {
  return bind_dot(call, [&]<class In, class Out>(Elements<In, Out>) -> Batch {
    const Dot<In> d = call.typed<In>();
    return {[=](std::int64_t calls) {
      for (std::int64_t i = 0; i < calls; ++i) {
        *static_cast<Out*>(result) = dot(d.n, d.x, d.incx, d.y, d.incy, {.threads = threads});
      }
    }};
  });
}

GpuLibraryContender::GpuLibraryContender(cuda::Gpu& gpu, ComputeMode mode, bool is_mixed)
    : gpu_(gpu),
      mode_(mode),
      is_mixed_(is_mixed),
      driver_{&gpu.api(), gpu.target().takes_cubin, gpu.target().wanted} {
  cuda::use_driver(&driver_);
}

GpuLibraryContender::~GpuLibraryContender() { cuda::use_driver(nullptr); }

Bound GpuLibraryContender::bind(const GemmCall& call, int threads) const {
  if (is_mixed_) return bind_mixed(call, threads);
  gpu_.make_current();
  const auto operands = std::make_shared<cuda::GemmOperands>(gpu_, call);
  GemmCall on_device = call;
  on_device.a.data = reinterpret_cast<const void*>(operands->a().data());
  on_device.b.data = reinterpret_cast<const void*>(operands->b().data());
  on_device.c.data = reinterpret_cast<void*>(operands->c().data());
  const auto run =
      public_gemm(on_device, OnGpu{CudaStream(gpu_.stream()), {.compute_mode = mode_}});
  if (!run) return {{}, fmt::format("has no {} on GPUs", rung::name(call.dtype))};
  return {batch_on_gpu("library", operands, [=, this] { launch([&] { run(1); }, threads); }), {}};
}

Bound GpuLibraryContender::bind_groups(const GroupedCall& call, int threads) const {
  gpu_.make_current();
  const GroupsOnGpu groups(gpu_, call);
  const auto run =
      public_groups(groups.call, OnGpu{CudaStream(gpu_.stream()), {.compute_mode = mode_}});
  if (!run) return {{}, fmt::format("has no groups of {} on GPUs", rung::name(call.call.dtype))};
  return {batch_on_gpu("library", groups.operands,
                       [=, this] { launch([&] { run(1); }, threads), (void)groups.offsets; }),
          {}};
}

Bound GpuLibraryContender::bind(const DotCall& call, int threads, void* result) const {
  return bind_dot(call, [&]<class In, class Out>(Elements<In, Out>) -> Batch {
    gpu_.make_current();
    const auto operands = std::make_shared<cuda::DotOperands>(gpu_, call, result);
    const auto run = [this, call, operands] {
      const auto lowest = [n = call.n](const void* first, std::int64_t increment) {
        const auto* const element = static_cast<const In*>(first);
        return increment < 0 && n > 0 ? element + (n - 1) * increment : element;
      };
      dot(call.n, lowest(operands->x(), call.incx), call.incx, lowest(operands->y(), call.incy),
          call.incy, static_cast<Out*>(operands->result().data()), CudaStream(gpu_.stream()));
    };
    return batch_on_gpu("library", operands, [=, this] { launch(run, threads); });
  });
}

void GpuLibraryContender::launch(const std::function<void()>& run, int threads) const {
  try {
    gpu_.observe(run, threads);
  } catch (const Error& error) {
    gpu_.wait("library");  // throws, with a new context, if earlier work has failed
    throw KernelError(error.what());
  }
}

}  // namespace rung
