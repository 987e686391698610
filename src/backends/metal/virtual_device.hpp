#pragma once
// The virtual GPU as a device of the Metal backend.

#include <map>
#include <mutex>

#include "backends/cuda/cuda.hpp"
#include "backends/metal/device.hpp"
#include "vgpu/launch.hpp"

namespace rung::metal {

class VirtualDevice final : public Device {
 public:
  /// observe: count memory traffic, and detect hazards. The observer is called after every launch;
  /// its exceptions propagate to the caller of the dispatch.
  VirtualDevice(vgpu::DeviceDescription description, bool observe, LaunchObserver observer);

  std::string describe() const override;
  bool is_virtual() const override { return true; }
  std::int64_t cache_bytes() const override { return description_.l2_bytes; }
  std::string code(std::string_view rung) const override;
  std::optional<std::string> why_not(const Launch& launch) const override;

  std::unique_ptr<Buffer> allocate(std::int64_t bytes) override;
  Pipeline& pipeline(std::string_view rung, const std::string& kernel) override;
  /// Returns when the kernel has run.
  void dispatch(Pipeline& pipeline, const Launch& launch, std::span<const Argument> arguments,
                int threads) override;
  void set_to_zero(Buffer& buffer, std::int64_t offset, std::int64_t bytes) override;
  void wait() override {}

  /// Loads PTX that is no rung's, under a name that no rung has; pipeline() finds it by that name.
  /// Throws KernelError for a text that the virtual GPU cannot run.
  vgpu::Module& load(const std::string& name, std::string_view ptx);
  const vgpu::DeviceDescription& description() const { return description_; }
  /// To read a module's variables.
  const vgpu::DeviceMemory& memory() const { return memory_; }

 private:
  struct VirtualPipeline final : Pipeline {
    VirtualPipeline(const vgpu::Module& from, const vgpu::Kernel& of) : module(from), kernel(of) {}
    const vgpu::Module& module;
    const vgpu::Kernel& kernel;
  };

  vgpu::Module& module(std::string_view rung);

  vgpu::DeviceDescription description_;
  bool observe_;
  LaunchObserver observer_;
  vgpu::DeviceMemory memory_;
  std::mutex mutex_;  // guards the members below, and launches, against frees of memory
  std::map<std::string, std::unique_ptr<vgpu::Module>, std::less<>> modules_;
  std::map<std::string, VirtualPipeline> pipelines_;
};

}  // namespace rung::metal
