#pragma once
// Ragged groups in device memory.

#include <memory>

#include "backends/cuda/gemm_operands.hpp"
#include "core/grouped.hpp"

namespace rung {

struct GroupsOnGpu {
  /// Copies operands and offsets to the device, whose context must be current. Throws
  /// cuda::DriverError and std::bad_alloc.
  GroupsOnGpu(cuda::Gpu& gpu, const GroupedCall& host)
      : operands(std::make_shared<cuda::GemmOperands>(gpu, host.call)),
        offsets(std::make_shared<cuda::DeviceMatrix>(gpu, storage_of_offsets(host),
                                                     host.groups.offsets)),
        call(host) {
    call.call.a.data = reinterpret_cast<const void*>(operands->a().data());
    call.call.b.data = reinterpret_cast<const void*>(operands->b().data());
    call.call.c.data = reinterpret_cast<void*>(operands->c().data());
    call.groups.offsets = reinterpret_cast<const std::int32_t*>(offsets->data());
  }

  std::shared_ptr<cuda::GemmOperands> operands;
  std::shared_ptr<cuda::DeviceMatrix> offsets;
  GroupedCall call;  // with device pointers

 private:
  static Storage storage_of_offsets(const GroupedCall& host) {
    auto* const begin =
        reinterpret_cast<std::byte*>(const_cast<std::int32_t*>(host.groups.offsets));
    const std::int64_t bytes = (host.call.batch + 1) * std::int64_t{sizeof(std::int32_t)};
    return {begin, 1, bytes, bytes};
  }
};

}  // namespace rung
