#pragma once
// The virtual GPU as a device of the CUDA backend.

#include <functional>

#include "backends/cuda/gpu.hpp"
#include "vgpu/launch.hpp"

namespace rung::cuda {

class VirtualGpu final : public Gpu {
 public:
  /// Called after every launch. Exceptions propagate to the caller of the launch.
  using Observer =
      std::function<void(const vgpu::LaunchReport& report, const vgpu::Kernel& kernel)>;

  /// If `observe`, counts memory traffic and detects hazards. Throws DriverError.
  VirtualGpu(const DriverApi& api, std::optional<Code> wanted, bool observe, Observer observer);

  bool is_virtual() const override { return true; }

  void observe(const std::function<void()>& launches, int threads) override;

 protected:
  Result start(Function function, const Launch& launch, void** arguments, int threads) override;

 private:
  bool observe_;
  Observer observer_;
};

/// The virtual GPU's driver, initialized with device 0 as described. There is one per process:
/// throws std::invalid_argument if it already exists with another description.
const DriverApi& open_virtual_driver(const vgpu::DeviceDescription& description);

}  // namespace rung::cuda
