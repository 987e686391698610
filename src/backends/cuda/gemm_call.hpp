#pragma once
// A gemm bound to a device: its operands are copied there, its kernel loaded, its launch computed.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/cuda/device_buffer.hpp"
#include "backends/cuda/gemm_operands.hpp"
#include "backends/cuda/tensor_maps.hpp"
#include "backends/cuda/tuned.hpp"
#include "core/call.hpp"
#include "device/cuda/entry/gemm_descriptor.hpp"

namespace rung::cuda {

/// Empty if the grid is within the device's limits, otherwise the reason in a few words.
std::optional<std::string> why_not_grid(const GemmRung& rung, const GemmCall& call,
                                        const GemmPlan& plan);

class GemmCallOnGpu {
 public:
  /// Preconditions: why_not_grid() is empty for `call`, `image` is the rung's, and the context is
  /// current. Throws DriverError and std::bad_alloc.
  GemmCallOnGpu(Gpu& gpu, const GemmRung& rung, const Image& image, const GemmCall& call,
                const GemmPlan& plan, int threads);
  /// The same with operands that are already on the device, those of `call`.
  GemmCallOnGpu(std::shared_ptr<const GemmOperands> operands, const GemmRung& rung,
                const Image& image, const GemmCall& call, const GemmPlan& plan, int threads);

  void enqueue(std::int64_t calls);
  void wait();
  void download() { operands_->download(); }

 private:
  void pack_operands();

  Gpu& gpu_;
  int threads_;
  std::string entry_;
  std::shared_ptr<const GemmOperands> operands_;
  Launch launch_;
  Function function_;
  DeviceBuffer workspace_;
  DeviceBuffer copies_;               // of operands that TMA cannot read where they are
  std::vector<PackOperand> to_pack_;  // before each launch
  std::vector<std::byte> args_;       // KernelArgs<In, Out>, with the device's pointers
  std::string pack_entry_;
  Function pack_ = nullptr;
};

}  // namespace rung::cuda
