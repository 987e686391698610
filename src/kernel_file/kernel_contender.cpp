#include "kernel_file/kernel_contender.hpp"

#include <fmt/format.h>

#include "backends/cuda/dot_operands.hpp"
#include "backends/cuda/gemm_operands.hpp"

namespace rung {
namespace {

template <class Operands>
Batch batch_of(const std::shared_ptr<const LoadedKernel>& kernel,
               const std::shared_ptr<Operands>& operands, const rung_emu_kernel_call& call,
               int threads) {
  const auto enqueue = [=](std::int64_t calls) {
    kernel->gpu().make_current();
    operands->require_present(kernel->file().name());
    rung_emu_kernel_call now = call;
    now.stream = kernel->gpu().stream();
    for (std::int64_t i = 0; i < calls; ++i) kernel->call(now, threads);
  };
  return {enqueue, [kernel] { kernel->wait(); }, [operands] { operands->download(); }};
}

std::string no_op(const Signature& signature, const char* op) {
  return fmt::format("computes a {}, not a {}", signature.op, op);
}

std::string no_dtype_of(const Signature& signature, Dtype dtype) {
  return fmt::format("is of {}, not {}", name(signature.dtype), name(dtype));
}

}  // namespace

std::string why_not(const Signature& signature, const GemmCall& call) {
  using enum Role;
  if (signature.op != "gemm") return no_op(signature, "gemm");
  if (signature.dtype != call.dtype) return no_dtype_of(signature, call.dtype);
  if (call.batch != 1) return "computes one product, not a batch";
  if (call.a.col_stride != 1 || call.b.col_stride != 1) return "takes row-major matrices only";
  const auto is_dense = [&](Role ld, std::int64_t stride, std::int64_t columns) {
    return signature.has(ld) || stride == columns;
  };
  if (!is_dense(lda, call.a.row_stride, call.k) || !is_dense(ldb, call.b.row_stride, call.n) ||
      !is_dense(ldc, call.c.row_stride, call.n)) {
    return "takes no leading dimension: rows are contiguous";
  }
  if (!signature.has(alpha) && call.alpha != 1) return "takes no alpha";
  if (!signature.has(beta) && call.beta != 0) return "takes no beta";
  return "";
}

std::string why_not(const Signature& signature, const DotCall& call) {
  using enum Role;
  const char* const op = call.y == nullptr ? "sum" : "dot";
  if (signature.op != op) return no_op(signature, op);
  if (signature.dtype != call.dtype) return no_dtype_of(signature, call.dtype);
  const bool has_increments = (signature.has(incx) || call.incx == 1) &&
                              (call.y == nullptr || signature.has(incy) || call.incy == 1);
  return has_increments ? "" : "takes no increments: elements are contiguous";
}

Bound KernelContender::bind(const GemmCall& call, int threads) const {
  const Signature& signature = kernel_->file().signature;
  if (std::string reason = why_not(signature, call); !reason.empty()) return {{}, reason};
  kernel_->gpu().make_current();
  const auto operands = std::make_shared<cuda::GemmOperands>(kernel_->gpu(), call);
  rung_emu_kernel_call passed = {};
  passed.m = call.m;
  passed.n = call.n;
  passed.k = call.k;
  passed.alpha = call.alpha;
  passed.beta = call.beta;
  passed.a = reinterpret_cast<const void*>(operands->a().data());
  passed.b = reinterpret_cast<const void*>(operands->b().data());
  passed.c = reinterpret_cast<void*>(operands->c().data());
  passed.lda = call.a.row_stride;
  passed.ldb = call.b.row_stride;
  passed.ldc = call.c.row_stride;
  return {batch_of(kernel_, operands, passed, threads), {}};
}

Bound KernelContender::bind(const DotCall& call, int threads, void* result) const {
  const Signature& signature = kernel_->file().signature;
  if (std::string reason = why_not(signature, call); !reason.empty()) return {{}, reason};
  kernel_->gpu().make_current();
  const auto operands = std::make_shared<cuda::DotOperands>(kernel_->gpu(), call, result);
  rung_emu_kernel_call passed = {};
  passed.n = call.n;
  passed.x = operands->x();
  passed.y = operands->y();
  passed.incx = call.incx;
  passed.incy = call.incy;
  passed.result = operands->result().data();
  return {batch_of(kernel_, operands, passed, threads), {}};
}

}  // namespace rung
