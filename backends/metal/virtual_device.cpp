#include "backends/metal/virtual_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>
#include <vector>

#include "backends/metal/images.hpp"
#include "backends/metal/threadgroup_memory.hpp"
#include "core/kernel_error.hpp"
#include "vgpu/driver/virtual_driver.hpp"

namespace rung::metal {
namespace {

class VirtualBuffer final : public Buffer {
 public:
  VirtualBuffer(vgpu::DeviceMemory& memory, std::mutex& mutex, std::int64_t bytes)
      : memory_(memory),
        mutex_(mutex),
        address_(memory.allocate(static_cast<std::size_t>(bytes))) {}
  ~VirtualBuffer() override {
    const std::lock_guard lock(mutex_);
    memory_.free(address_);
  }

  void write(std::int64_t offset, const void* from, std::int64_t bytes) override {
    memory_.write(address_ + static_cast<std::uint64_t>(offset), from,
                  static_cast<std::size_t>(bytes));
  }
  void read(void* to, std::int64_t offset, std::int64_t bytes) const override {
    memory_.read(to, address_ + static_cast<std::uint64_t>(offset),
                 static_cast<std::size_t>(bytes));
  }

  std::uint64_t address() const { return address_; }

 private:
  vgpu::DeviceMemory& memory_;
  std::mutex& mutex_;
  std::uint64_t address_;
};

const Image* find_image(std::string_view rung) {
  const auto all = images();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Image& image) { return image.id == rung; });
  return found == all.end() ? nullptr : &*found;
}

vgpu::Dim3 dim(const Size3& size) {
  return {static_cast<std::uint32_t>(size.x), static_cast<std::uint32_t>(size.y),
          static_cast<std::uint32_t>(size.z)};
}

/// Packs the kernel's buffers, which are the entry's parameters in order.
std::vector<std::byte> parameters_of(const vgpu::KernelInfo& kernel,
                                     std::span<const Argument> arguments) {
  std::vector<std::byte> parameters(kernel.parameter_bytes);
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const auto& [offset, bytes] = kernel.parameters[i];
    const Argument& argument = arguments[i];
    std::uint64_t address = 0;
    if (argument.buffer != nullptr) {
      address = static_cast<const VirtualBuffer&>(*argument.buffer).address() +
                static_cast<std::uint64_t>(argument.offset);
    }
    const void* const from =
        argument.bytes.empty() ? &address : static_cast<const void*>(argument.bytes.data());
    std::memcpy(parameters.data() + offset, from,
                std::min(bytes, argument.bytes.empty() ? sizeof address : argument.bytes.size()));
  }
  return parameters;
}

}  // namespace

VirtualDevice::VirtualDevice(vgpu::DeviceDescription description, bool observe,
                             LaunchObserver observer)
    : description_(std::move(description)),
      observe_(observe),
      observer_(std::move(observer)),
      memory_(static_cast<std::size_t>(description_.memory_bytes)) {}

std::string VirtualDevice::describe() const {
  return fmt::format("{} ({} cores, simulated by this CPU)", description_.name,
                     description_.multiprocessors);
}

std::string VirtualDevice::code(std::string_view rung) const {
  if (find_image(rung) == nullptr) return "";
  return fmt::format("PTX by clang {}", clang_version());
}

std::optional<std::string> VirtualDevice::why_not(const Launch& launch) const {
  constexpr std::int64_t most_x = (std::int64_t{1} << 31) - 1;
  constexpr std::int64_t most_yz = 65535;
  const Size3& grid = launch.threadgroups;
  if (grid.x <= most_x && grid.y <= most_yz && grid.z <= most_yz) return std::nullopt;
  return fmt::format("{}x{}x{} threadgroups; the virtual GPU has at most {}x{}x{}", grid.x, grid.y,
                     grid.z, most_x, most_yz, most_yz);
}

std::unique_ptr<Buffer> VirtualDevice::allocate(std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  return std::make_unique<VirtualBuffer>(memory_, mutex_, bytes);
}

vgpu::Module& VirtualDevice::module(std::string_view rung) {
  auto found = modules_.find(rung);
  if (found == modules_.end()) {
    const Image* image = find_image(rung);
    if (image == nullptr) throw std::invalid_argument("no such rung");
    auto module = vgpu::Module::load(image->ptx, rung, memory_);
    found = modules_.emplace(rung, std::move(module)).first;
  }
  return *found->second;
}

vgpu::Module& VirtualDevice::load(const std::string& name, std::string_view ptx) {
  const std::lock_guard lock(mutex_);
  try {
    auto module = vgpu::Module::load(ptx, name, memory_);
    return *modules_.emplace(name, std::move(module)).first->second;
  } catch (const std::exception& error) {
    throw KernelError(fmt::format("{}: {}", name, error.what()));
  }
}

Pipeline& VirtualDevice::pipeline(std::string_view rung, const std::string& kernel) {
  const std::lock_guard lock(mutex_);
  auto found = pipelines_.find(kernel);
  if (found != pipelines_.end()) return found->second;
  try {
    vgpu::Module& code = module(rung);
    if (code.kernel(kernel) == nullptr) throw std::invalid_argument("no such kernel");
    return pipelines_.try_emplace(kernel, code, *code.kernel(kernel)).first->second;
  } catch (const std::exception& error) {
    throw KernelError(fmt::format("{}: {}", kernel, error.what()));
  }
}

void VirtualDevice::dispatch(Pipeline& pipeline, const Launch& launch,
                             std::span<const Argument> arguments, int threads) {
  const auto& [module, kernel] = static_cast<VirtualPipeline&>(pipeline);
  const vgpu::KernelInfo& kernel_info = vgpu::info(kernel);
  vgpu::LaunchOptions options;
  options.grid = dim(launch.threadgroups);
  options.block = dim(launch.threads);
  options.observe = observe_;
  options.watcher = vgpu::access_watcher();
  options.threads = static_cast<unsigned>(threads);
  vgpu::LaunchReport report;
  try {
    const std::lock_guard lock(mutex_);
    lay_out(launch.threadgroup_memory, module, memory_, options);
    report =
        vgpu::launch(kernel, options, parameters_of(kernel_info, arguments), memory_, description_);
  } catch (const std::invalid_argument& error) {
    throw KernelError(fmt::format("{}: {}", kernel_info.name, error.what()));
  }
  observer_(report, kernel);
  if (report.fault) throw KernelError(kernel_info.name + ": the launch failed");
}

void VirtualDevice::set_to_zero(Buffer& buffer, std::int64_t offset, std::int64_t bytes) {
  const std::uint64_t at =
      static_cast<VirtualBuffer&>(buffer).address() + static_cast<std::uint64_t>(offset);
  memory_.fill(at, 0, 1, static_cast<std::size_t>(bytes));
}

}  // namespace rung::metal
