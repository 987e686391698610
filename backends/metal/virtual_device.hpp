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
  /// If `observe`, counts memory traffic and detects hazards. The observer is called after every
  /// launch; its exceptions propagate to the caller of dispatch().
  VirtualDevice(vgpu::DeviceDescription description, bool observe, LaunchObserver observer);

  std::string describe() const override;
  bool is_virtual() const override { return true; }
  std::int64_t cache_bytes() const override { return description_.l2_bytes; }
  std::string code(std::string_view rung) const override;
  std::optional<std::string> why_not(const Launch& launch) const override;

  std::unique_ptr<Buffer> allocate(std::int64_t bytes) override;
  Pipeline& pipeline(std::string_view rung, const std::string& kernel) override;
  /// Runs the kernel and returns when it has finished.
  void dispatch(Pipeline& pipeline, const Launch& launch, std::span<const Argument> arguments,
                int threads) override;
  void set_to_zero(Buffer& buffer, std::int64_t offset, std::int64_t bytes) override;
  void wait() override {}

  /// Loads PTX that does not belong to a rung, under an unused name by which pipeline() finds it.
  /// Throws KernelError if the virtual GPU cannot run it.
  vgpu::Module& load(const std::string& name, std::string_view ptx);
  const vgpu::DeviceDescription& description() const { return description_; }
  /// The device memory, for reading a module's variables.
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
  std::mutex mutex_;  // guards the members below, and launches against concurrent frees
  std::map<std::string, std::unique_ptr<vgpu::Module>, std::less<>> modules_;
  std::map<std::string, VirtualPipeline> pipelines_;
};

}  // namespace rung::metal
