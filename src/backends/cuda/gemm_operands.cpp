#include "backends/cuda/gemm_operands.hpp"

namespace rung::cuda {

GemmOperands::GemmOperands(Gpu& gpu, const GemmCall& call)
    : Operands(gpu),
      a_(gpu, host_storage(call.a, call.m, call.k, input_bytes(call.dtype), gpu.is_virtual()),
         call.a.data),
      b_(gpu, host_storage(call.b, call.k, call.n, input_bytes(call.dtype), gpu.is_virtual()),
         call.b.data),
      c_(gpu, host_storage(call.c, call.m, call.n, output_bytes(call.dtype), gpu.is_virtual()),
         call.c.data),
      inputs_return_(call.a.storage.begin != nullptr && call.b.storage.begin != nullptr) {}

void GemmOperands::upload_c() const {
  gpu().make_current();
  c_.upload();
}

void GemmOperands::download() const {
  gpu().make_current();
  c_.download();
  if (!inputs_return_) return;
  a_.download();
  b_.download();
}

}  // namespace rung::cuda
