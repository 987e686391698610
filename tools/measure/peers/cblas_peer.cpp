#include "tools/measure/peers/cblas_peer.hpp"

#include <algorithm>
#include <initializer_list>
#include <limits>

#include "tools/measure/peers/blas_operand.hpp"

namespace rung {
namespace {

// Values defined by the CBLAS standard (BLAS Technical Forum Standard, 2001, appendix B).
constexpr int row_major = 101;
constexpr int no_trans = 111;
constexpr int trans = 112;

constexpr const char* no_such_type = "has no such type";
constexpr const char* too_large = "a size exceeds its 32-bit integers";

bool fit_int(std::initializer_list<std::int64_t> sizes) {
  return std::all_of(sizes.begin(), sizes.end(),
                     [](std::int64_t size) { return size <= std::numeric_limits<int>::max(); });
}

template <class In, class Out, class Function>
Bound bind_gemm(Function* gemm, const GemmCall& call) {
  const auto g = call.typed<In, Out>();
  const BlasOperand a(call.a, g.m, g.k);
  const BlasOperand b(call.b, g.k, g.n);
  const BlasOperand c(call.c, g.m, g.n);
  if (!fit_int({g.m, g.n, g.k, a.ld, b.ld, c.ld})) return {{}, too_large};
  const auto run = [=](std::int64_t calls) {
    for (std::int64_t i = 0; i < calls; ++i) {
      gemm(row_major, a.transposed ? trans : no_trans, b.transposed ? trans : no_trans,
           static_cast<int>(g.m), static_cast<int>(g.n), static_cast<int>(g.k), g.alpha, g.a.data,
           static_cast<int>(a.ld), g.b.data, static_cast<int>(b.ld), g.beta, g.c.data,
           static_cast<int>(c.ld));
    }
  };
  return {run, {}};
}

template <class T, class Function>
Bound bind_batched_gemm(Function* gemm, const GemmCall& call) {
  const auto g = call.typed<T, T>();
  const BlasOperand a(call.a, g.m, g.k);
  const BlasOperand b(call.b, g.k, g.n);
  const BlasOperand c(call.c, g.m, g.n);
  const std::int64_t strides[] = {call.a.batch_stride, call.b.batch_stride, call.c.batch_stride};
  if (!fit_int({g.m, g.n, g.k, a.ld, b.ld, c.ld, call.batch, strides[0], strides[1], strides[2]})) {
    return {{}, too_large};
  }
  const auto size = [](std::int64_t value) { return static_cast<int>(value); };
  const auto run = [=, batch = call.batch](std::int64_t calls) {
    for (std::int64_t i = 0; i < calls; ++i) {
      gemm(row_major, a.transposed ? trans : no_trans, b.transposed ? trans : no_trans, size(g.m),
           size(g.n), size(g.k), g.alpha, g.a.data, size(a.ld), size(strides[0]), g.b.data,
           size(b.ld), size(strides[1]), g.beta, g.c.data, size(c.ld), size(strides[2]),
           size(batch));
    }
  };
  return {run, {}};
}

template <class T, class Function>
Bound bind_dot(Function* dot, const DotCall& call, void* result) {
  const auto d = call.typed<T>();
  if (!fit_int({d.n, d.incx, d.incy})) return {{}, too_large};
  if (d.incx < 1 || d.incy < 1) return {{}, "an increment is not positive"};
  const auto run = [=](std::int64_t calls) {
    for (std::int64_t i = 0; i < calls; ++i) {
      *static_cast<T*>(result) =
          dot(static_cast<int>(d.n), d.x, static_cast<int>(d.incx), d.y, static_cast<int>(d.incy));
    }
  };
  return {run, {}};
}

}  // namespace

std::string CblasPeer::prefix(const SharedLibrary& library) {
  constexpr const char* scipy = "scipy_";
  return library.find<void()>("scipy_cblas_sgemm") != nullptr ? scipy : "";
}

CblasPeer::CblasPeer(std::string_view name, const SharedLibrary& library) : name_(name) {
  const std::string cblas = prefix(library) + "cblas_";
  path_ = library.path((cblas + "sgemm").c_str());
  sgemm_ = library.find<GemmFunction<float>>((cblas + "sgemm").c_str());
  dgemm_ = library.find<GemmFunction<double>>((cblas + "dgemm").c_str());
  sgemm_batch_ = library.find<BatchFunction<float>>((cblas + "sgemm_batch_strided").c_str());
  dgemm_batch_ = library.find<BatchFunction<double>>((cblas + "dgemm_batch_strided").c_str());
  sdot_ = library.find<DotFunction<float>>((cblas + "sdot").c_str());
  ddot_ = library.find<DotFunction<double>>((cblas + "ddot").c_str());
  bf16_gemm_ = library.find<MixedFunction<bfloat16>>((cblas + "gemm_bf16bf16f32").c_str());
  f16_gemm_ = library.find<MixedFunction<float16>>((cblas + "gemm_f16f16f32").c_str());
}

bool CblasPeer::complete() const {
  return sgemm_ != nullptr && dgemm_ != nullptr && sdot_ != nullptr && ddot_ != nullptr;
}

Bound CblasPeer::bind(const GemmCall& call, int threads) const {
  set_threads(threads);
  if (call.batch != 1) return bind_batch(call);
  if (call.dtype == Dtype::f32) return bind_gemm<float, float>(sgemm_, call);
  if (call.dtype == Dtype::f64) return bind_gemm<double, double>(dgemm_, call);
  if (call.dtype == Dtype::bf16 && bf16_gemm_ != nullptr) {
    return bind_gemm<bfloat16, float>(bf16_gemm_, call);
  }
  if (call.dtype == Dtype::f16 && f16_gemm_ != nullptr) {
    return bind_gemm<float16, float>(f16_gemm_, call);
  }
  return {{}, no_such_type};
}

Bound CblasPeer::bind_batch(const GemmCall& call) const {
  if (sgemm_batch_ == nullptr || dgemm_batch_ == nullptr) return {{}, "has no batches"};
  if (call.dtype == Dtype::f32) return bind_batched_gemm<float>(sgemm_batch_, call);
  if (call.dtype == Dtype::f64) return bind_batched_gemm<double>(dgemm_batch_, call);
  return {{}, no_such_type};
}

Bound CblasPeer::bind(const DotCall& call, int threads, void* result) const {
  set_threads(threads);
  if (call.dtype == Dtype::f32) return bind_dot<float>(sdot_, call, result);
  if (call.dtype == Dtype::f64) return bind_dot<double>(ddot_, call, result);
  return {{}, no_such_type};
}

}  // namespace rung
