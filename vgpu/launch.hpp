#pragma once
// Loads modules and runs kernels on the virtual GPU. The engine's interface for the driver, the
// tools of the CUDA backend and the tests.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/memory/device_memory.hpp"
#include "vgpu/model/device.hpp"
#include "vgpu/model/launch.hpp"

namespace rung::vgpu {

namespace ptx {
struct Module;
}

class Kernel;  // lowered code: engine internals

/// A loaded module: global and constant variables in device memory, kernels lowered on first use.
class Module {
 public:
  /// Host addresses by names of variables.
  using Addresses = std::map<std::string, void*, std::less<>>;

  /// Throws ptx::ParseError, or std::invalid_argument naming an unknown instruction or symbol, with
  /// the line. Variables in `placed` are stored in the caller's memory, which receives their
  /// initial values when the first module places them there.
  static std::unique_ptr<Module> load(std::string_view ptx_text, std::string_view name,
                                      DeviceMemory& memory, const Addresses& placed = {});
  ~Module();

  std::vector<std::string> kernel_names() const;
  /// Null if the module has no kernel of that name. Throws std::invalid_argument as load() does.
  const Kernel* kernel(std::string_view name);
  /// Finds a kernel by its address in device code.
  const Kernel* kernel_at(std::uint64_t address);
  struct Global {
    std::uint64_t address;
    std::size_t bytes;
  };
  std::optional<Global> global(std::string_view name) const;
  const ptx::Module& text() const;

 private:
  struct State;
  explicit Module(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

const KernelInfo& info(const Kernel& kernel);
const std::vector<Site>& sites(const Kernel& kernel);
/// True if the kernel calls printf anywhere.
bool calls_printf(const Kernel& kernel);

/// Performs the checks of launch() without running anything, for launches that are recorded.
void check_launch(const Kernel& kernel, const LaunchOptions& options,
                  std::span<const std::byte> parameters, const DeviceDescription& device);

/// Runs the whole grid and returns. `parameters` is the parameter buffer, laid out as in
/// KernelInfo. Throws std::invalid_argument, with the value and the limit, for a buffer that is too
/// small, or a grid, block or shared size that the device does not support.
LaunchReport launch(const Kernel& kernel, const LaunchOptions& options,
                    std::span<const std::byte> parameters, DeviceMemory& memory,
                    const DeviceDescription& device);

/// Returns the launches that kernels in this memory have made since the last call, ordered by block
/// and, within a block, by launch. The caller must free their buffers.
std::vector<DeviceLaunch> take_launches_of_kernels(const DeviceMemory& memory);

}  // namespace rung::vgpu
