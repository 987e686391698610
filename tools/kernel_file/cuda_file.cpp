#include "tools/kernel_file/cuda_file.hpp"

#include <utility>

#include "backends/cuda/dot_operands.hpp"
#include "backends/cuda/gemm_operands.hpp"

namespace rung {
namespace {

template <class Operands>
BoundCall batch_of(const std::shared_ptr<const LoadedKernel>& kernel,
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

}  // namespace

Bound CudaFile::bind(const GemmCall& call, int threads) const {
  const Signature& signature = kernel_->file().signature;
  if (std::string reason = why_not(signature, call); !reason.empty()) return {{}, reason};
  kernel_->gpu().make_current();
  const auto operands = std::make_shared<cuda::GemmOperands>(kernel_->gpu(), call);
  rung_emu_kernel_call passed = {};
  const GemmArguments arguments = arguments_of(signature, call);
  passed.m = arguments.m;
  passed.n = arguments.n;
  passed.k = call.k;
  passed.alpha = call.alpha;
  passed.beta = call.beta;
  passed.a = reinterpret_cast<const void*>(operands->a().data());
  passed.b = reinterpret_cast<const void*>(operands->b().data());
  if (arguments.swapped) std::swap(passed.a, passed.b);
  passed.c = reinterpret_cast<void*>(operands->c().data());
  passed.lda = arguments.lda;
  passed.ldb = arguments.ldb;
  passed.ldc = arguments.ldc;
  return {batch_of(kernel_, operands, passed, threads), {}};
}

Bound CudaFile::bind(const DotCall& call, int threads, void* result) const {
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
