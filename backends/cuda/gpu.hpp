#pragma once
// A device with a CUDA driver API, real or virtual: its context, its stream, and the rungs loaded
// on it.

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "backends/cuda/kernel_table.hpp"
#include "backends/cuda/select_image.hpp"
#include "core/cuda_driver/api.hpp"
#include "device/cuda/entry/launch.hpp"
#include "device/cuda/entry/limits.hpp"

namespace rung::cuda {

/// A device with its primary context, which it shares with the CUDA runtime.
class Gpu {
 public:
  /// The driver must be initialized. `wanted` is the code form, or empty for the best one.
  /// `ordinal` is the driver's device number. Throws DriverError.
  Gpu(const DriverApi& api, std::optional<Code> wanted, int ordinal = 0);
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;
  virtual ~Gpu();

  const DriverApi& api() const { return api_; }
  /// The virtual GPU detects out-of-bounds accesses itself, so operands need no guards there.
  virtual bool is_virtual() const { return false; }
  const std::string& name() const { return name_; }
  const Target& target() const { return target_; }
  const Limits& limits() const { return limits_; }

  /// An attribute of the device, from cuDeviceGetAttribute. Throws DriverError.
  int attribute(DeviceAttribute attribute) const;
  /// The size of the device memory. Throws DriverError.
  std::int64_t memory_bytes() const;
  /// "0000:04:00.0"
  std::string pci_bus_id() const;

  /// Makes the context current in the calling thread. Must precede every use of the device.
  void make_current();

  /// A function of a module, which is loaded at its first use. Throws DriverError.
  Function function(const Unit& unit, const std::string& entry);

  /// Loads a rung's kernel at its first use and allows it `shared_bytes` of dynamic shared memory.
  /// The context must be current. Throws DriverError, also if the build has no code for the device.
  Function load(const KernelName& kernel, std::int64_t shared_bytes);

  /// Enqueues a launch; surplus arguments are ignored. `threads` is the maximum number of host
  /// threads that the virtual GPU uses. Throws KernelError with the entry's name if the device
  /// rejects the launch or reports that it failed; the contents of device memory are lost in this
  /// case.
  void launch(Function function, const std::string& entry, const Launch& launch, void** arguments,
              int threads);
  /// Enqueues a launch of a rung's kernel, which is loaded at its first use.
  void launch(const KernelName& kernel, const Launch& launch, void** arguments, int threads);
  /// Runs `launches`, which launches through the driver API itself; the virtual GPU observes these
  /// launches like those of launch().
  virtual void observe(const std::function<void()>& launches, int /*threads*/) { launches(); }
  /// Waits until the stream is empty. Throws KernelError like launch().
  void wait(const std::string& entry);

  /// The stream, for libraries that launch their own kernels.
  Stream stream();
  /// Creates a new context and throws the KernelError of a launch or wait that returned `result`.
  [[noreturn]] void fail(const std::string& entry, Result result);

  /// The number of times that device memory was lost. Allocations of earlier generations are
  /// invalid.
  int generation();

 protected:
  virtual Result start(Function function, const Launch& launch, void** arguments, int threads);
  /// Creates a new context, because a failed kernel makes the old one unusable.
  void reset();

  Target target_;

 private:
  void open();

  const DriverApi& api_;
  Device device_ = 0;
  std::string name_;
  Limits limits_ = {};

  std::mutex mutex_;
  Context context_ = nullptr;
  Stream stream_ = nullptr;
  int generation_ = 0;
  std::map<const Unit*, Module> modules_;
  KernelTable kernels_;
};

}  // namespace rung::cuda
