#pragma once
// Metal's objects on the virtual GPU.

#include <Metal/Metal.hpp>
#include <functional>
#include <memory>
#include <string_view>

#include "device/metal/descriptor.hpp"
#include "vgpu/launch.hpp"

namespace metal_standin {

struct VirtualFunction;

class VirtualDevice final : public MTL::Device {
 public:
  VirtualDevice();

  NS::String* name() const override;
  bool supportsFamily(MTL::GPUFamily family) override;
  NS::UInteger maxThreadgroupMemoryLength() const override;
  MTL::CommandQueue* newCommandQueue() override;
  MTL::Buffer* newBuffer(NS::UInteger length, MTL::ResourceOptions options) override;
  MTL::Library* newLibrary(const NS::String* source, const MTL::CompileOptions* options,
                           NS::Error** error) override;
  MTL::Library* newLibrary(const NS::URL* url, NS::Error** error) override;
  MTL::ComputePipelineState* newComputePipelineState(const MTL::Function* function,
                                                     NS::Error** error) override;

  rung::vgpu::DeviceMemory& memory() { return memory_; }
  /// Throws rung::KernelError if a launch fails or has a hazard.
  void launch(const VirtualFunction& function, rung::vgpu::LaunchOptions options,
              const rung::metal::ThreadgroupMemory& memory, std::span<const std::byte> parameters);

 private:
  MTL::Library* library_of(std::string_view rung);

  rung::vgpu::DeviceDescription description_;
  rung::vgpu::DeviceMemory memory_;
};

using DevicePtr = NS::SharedPtr<VirtualDevice>;

/// Memory is unified: device addresses are addresses of this process.
class VirtualBuffer final : public MTL::Buffer {
 public:
  VirtualBuffer(DevicePtr device, std::size_t bytes);
  ~VirtualBuffer() override { device_->memory().free(address_); }
  void* contents() override { return reinterpret_cast<void*>(address_); }
  std::uint64_t address() const { return address_; }

 private:
  DevicePtr device_;
  std::uint64_t address_;
};

/// A library with the PTX of the rung whose text it was created from.
class VirtualLibrary final : public MTL::Library {
 public:
  VirtualLibrary(DevicePtr device, std::unique_ptr<rung::vgpu::Module> module);
  MTL::Function* newFunction(const NS::String* name) override;
  const rung::vgpu::Module& module() const { return *module_; }

 private:
  DevicePtr device_;  // its memory contains the module's variables
  std::unique_ptr<rung::vgpu::Module> module_;
};

struct VirtualFunction final : MTL::Function {
  VirtualFunction(NS::SharedPtr<VirtualLibrary> from, const rung::vgpu::Kernel& of)
      : library(std::move(from)), kernel(of) {}
  NS::SharedPtr<VirtualLibrary> library;
  const rung::vgpu::Kernel& kernel;
};

struct VirtualPipeline final : MTL::ComputePipelineState {
  explicit VirtualPipeline(NS::SharedPtr<VirtualFunction> of) : function(std::move(of)) {}
  const rung::vgpu::KernelInfo& info() const { return rung::vgpu::info(function->kernel); }
  NS::UInteger maxTotalThreadsPerThreadgroup() const override;
  NS::UInteger staticThreadgroupMemoryLength() const override;
  NS::SharedPtr<VirtualFunction> function;
};

/// Creates command buffers, and runs committed ones as late as Metal may: when the program waits
/// for them.
MTL::CommandQueue* new_queue(DevicePtr device);

}  // namespace metal_standin
