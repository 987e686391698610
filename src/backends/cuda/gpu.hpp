#pragma once
// A device behind the driver API, real or virtual: its context, its queue, and the rungs loaded on
// it.

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "backends/cuda/kernel_table.hpp"
#include "backends/cuda/select_image.hpp"
#include "backends/cuda/tuned.hpp"
#include "cuda_driver/api.hpp"
#include "device/cuda/entry/launch.hpp"

namespace rung::cuda {

/// A device with its primary context, which is also that of the CUDA runtime.
class Gpu {
 public:
  /// The driver must be initialised. `wanted` is the code form, or empty for the best one. `ordinal`
  /// is that of the device. Throws DriverError.
  Gpu(const DriverApi& api, std::optional<Code> wanted, int ordinal = 0);
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;
  virtual ~Gpu();

  const DriverApi& api() const { return api_; }
  /// The virtual GPU detects out-of-bounds accesses itself.
  virtual bool is_virtual() const { return false; }
  const std::string& name() const { return name_; }
  const Target& target() const { return target_; }
  const Limits& limits() const { return limits_; }

  /// An attribute of the device, from cuDeviceGetAttribute. Throws DriverError.
  int attribute(DeviceAttribute attribute) const;
  /// The size of its memory. Throws DriverError.
  std::int64_t memory_bytes() const;
  /// "0000:04:00.0"
  std::string pci_bus_id() const;

  /// Makes the context current in the calling thread. Every use of the device begins with this.
  void make_current();

  /// An entry of a module, which is loaded at its first use. Throws DriverError.
  Function function(const Unit& unit, const std::string& entry);

  /// Loads a rung's kernel at its first use, and allows it that many bytes of dynamic shared memory.
  /// The context must be current. Throws DriverError, also if the build has no code for the device.
  Function load(const KernelName& kernel, std::int64_t shared_bytes);

  /// Enqueues a launch; there may be more arguments than the kernel has. `threads` is the most that
  /// the virtual GPU may use on this machine. Throws KernelError with the entry's name if the
  /// device rejects the launch, or reports that it failed: device memory is then lost.
  void launch(Function function, const std::string& entry, const Launch& launch, void** arguments,
              int threads);
  /// The same for a rung's kernel, which is loaded at its first use.
  void launch(const KernelName& kernel, const Launch& launch, void** arguments, int threads);
  /// Runs `body`, which launches through the driver API itself; on the virtual GPU it is observed,
  /// like launch().
  virtual void observe(const std::function<void()>& launches, int /*threads*/) { launches(); }
  /// Waits until the queue is empty. Throws KernelError like launch().
  void wait(const std::string& entry);

  /// The stream, for libraries with launches of their own.
  Stream stream();
  /// Throws the KernelError of a launch or wait that returned `result`, after creating a new
  /// context.
  [[noreturn]] void fail(const std::string& entry, Result result);

  /// The number of times that memory was lost: earlier allocations are no longer valid.
  int generation();

 protected:
  virtual Result start(Function function, const Launch& launch, void** arguments, int threads);
  /// A failed kernel makes the context unusable: creates a new one.
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
