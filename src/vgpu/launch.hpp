#pragma once
// Runs kernels on the virtual GPU: the engine's interface for the driver, the CUDA backend's tools
// and the tests.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "vgpu/memory/device_memory.hpp"
#include "vgpu/model/device.hpp"
#include "vgpu/model/launch.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

class Kernel;  // lowered code: engine internals

/// Whether functions may call themselves, or be called through pointers: in CUDA, but not in Metal.
enum class CallStack : std::uint8_t { allowed, refused };

/// A loaded module: global and constant variables in device memory, kernels lowered on first use.
class Module {
 public:
  /// Host addresses, by the names of variables.
  using Addresses = std::map<std::string, void*, std::less<>>;

  /// Throws ptx::ParseError, or std::invalid_argument naming an unknown instruction or symbol, with
  /// the line. Variables in `placed` lie in the caller's memory, which gets their initial values
  /// when the first module places them there.
  static std::unique_ptr<Module> load(std::string_view ptx_text, std::string_view name,
                                      DeviceMemory& memory,
                                      CallStack call_stack = CallStack::allowed,
                                      const Addresses& placed = {});
  ~Module();

  std::vector<std::string> kernel_names() const;
  /// Null if there is no kernel of that name. Throws std::invalid_argument as load() does.
  const Kernel* kernel(std::string_view name);
  /// The same by the address that device code has of it.
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
/// Whether the kernel calls printf anywhere.
bool calls_printf(const Kernel& kernel);

/// The checks of launch() before it runs anything, for launches that are recorded first.
void check_launch(const Kernel& kernel, const LaunchOptions& options,
                  std::span<const std::byte> parameters, const DeviceDescription& device);

/// Runs the whole grid and returns. `parameters` is the parameter buffer, laid out as in
/// KernelInfo. Throws std::invalid_argument for a grid, block or shared size that the device does
/// not support, or a buffer that is too small, with the value and the limit.
LaunchReport launch(const Kernel& kernel, const LaunchOptions& options,
                    std::span<const std::byte> parameters, DeviceMemory& memory,
                    const DeviceDescription& device);

/// The launches that kernels in this memory have made since the last call: those of a block in its
/// order, blocks in theirs. The caller frees their buffers.
std::vector<DeviceLaunch> take_launches_of_kernels(const DeviceMemory& memory);

}  // namespace rung::vgpu
