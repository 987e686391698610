#pragma once
// A gemm bound to a device: copied operands, loaded kernels and prepared launches.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "backends/cuda/device_buffer.hpp"
#include "backends/cuda/gemm_operands.hpp"
#include "backends/cuda/prepared_gemm.hpp"
#include "core/call.hpp"

namespace rung::cuda {

/// Empty if the grid is within the device's limits, otherwise the reason in a few words.
std::optional<std::string> why_not_grid(const ConfiguredGemm& gemm, const GemmCall& call);

class GemmCallOnGpu {
 public:
  /// Preconditions: why_not_grid() is empty for `call`, the build has an image of the rung for the
  /// device, and the context is current. Throws DriverError and std::bad_alloc.
  GemmCallOnGpu(Gpu& gpu, const ConfiguredGemm& gemm, const GemmCall& call, int threads);
  /// Uses operands that are already on the device, those of `call`.
  GemmCallOnGpu(std::shared_ptr<const GemmOperands> operands, const ConfiguredGemm& gemm,
                const GemmCall& call, int threads);

  void enqueue(std::int64_t calls);
  void wait();
  void download() { operands_->download(); }

 private:
  Gpu& gpu_;
  int threads_;
  std::string name_;  // of the kernel
  std::shared_ptr<const GemmOperands> operands_;
  Launch launch_;
  DeviceBuffer workspace_;
  DeviceBuffer copies_;
  PreparedGemm prepared_;
};

}  // namespace rung::cuda
