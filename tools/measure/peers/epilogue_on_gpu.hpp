#pragma once
// A product with an epilogue, block scales or packed weights, in device memory.

#include <memory>

#include "backends/cuda/gemm_operands.hpp"
#include "core/epilogue_parts.hpp"

namespace rung {

struct EpilogueOnGpu {
  /// Copies operands to the device, whose context must be current. Throws cuda::DriverError and
  /// std::bad_alloc.
  EpilogueOnGpu(cuda::Gpu& gpu, const CallWithEpilogue& host)
      : operands(std::make_shared<cuda::GemmOperands>(gpu, host.call)),
        bias(copy(gpu, host.bias)),
        aux(copy(gpu, host.aux)),
        residual(copy(gpu, host.residual)),
        a_scales(copy(gpu, host.a_scales)),
        b_scales(copy(gpu, host.b_scales)),
        packed(copy(gpu, host.packed)),
        call(host) {
    call.call.a.data = reinterpret_cast<const void*>(operands->a().data());
    call.call.b.data = reinterpret_cast<const void*>(operands->b().data());
    call.call.c.data = reinterpret_cast<void*>(operands->c().data());
    if (bias) call.bias.data = reinterpret_cast<const void*>(bias->data());
    if (aux) call.aux.data = reinterpret_cast<void*>(aux->data());
    if (residual) call.residual.data = reinterpret_cast<const void*>(residual->data());
    if (a_scales) call.a_scales.data = reinterpret_cast<const void*>(a_scales->data());
    if (packed) call.weights.data = reinterpret_cast<const void*>(packed->data());
    if (b_scales) call.b_scales.data = reinterpret_cast<const void*>(b_scales->data());
  }

  std::shared_ptr<cuda::GemmOperands> operands;
  // Null if not used.
  std::shared_ptr<cuda::DeviceMatrix> bias, aux, residual, a_scales, b_scales, packed;
  CallWithEpilogue call;  // with device pointers

 private:
  template <class Pointer>
  static std::shared_ptr<cuda::DeviceMatrix> copy(cuda::Gpu& gpu, const AnyMatrix<Pointer>& host) {
    if (host.data == nullptr) return nullptr;
    return std::make_shared<cuda::DeviceMatrix>(gpu, host.storage, host.data);
  }
};

}  // namespace rung
