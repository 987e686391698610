#pragma once
// A device behind the driver's calls, real or virtual: its context, its queue, and the rungs that
// are loaded on it.

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

/// A device in its primary context, which is that of the CUDA runtime as well.
class Gpu {
 public:
  /// The driver must be initialised; `wanted` is the code to take, or nothing for what fits best.
  /// `ordinal` names the device. Throws DriverError.
  Gpu(const DriverApi& api, std::optional<Code> wanted, int ordinal = 0);
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;
  virtual ~Gpu();

  const DriverApi& api() const { return api_; }
  /// The virtual one notices itself what is read or written out of bounds.
  virtual bool is_virtual() const { return false; }
  const std::string& name() const { return name_; }
  const Target& target() const { return target_; }
  const Limits& limits() const { return limits_; }

  /// Of the device, as cuDeviceGetAttribute gives it. Throws DriverError.
  int attribute(DeviceAttribute attribute) const;
  /// Of its memory. Throws DriverError.
  std::int64_t memory_bytes() const;
  /// "0000:04:00.0"
  std::string pci_bus_id() const;

  /// For the calling thread. Every use of the device begins with this.
  void make_current();

  /// An entry of a rung's image, loaded at its first use. Throws DriverError.
  Function function(const Image& image, const std::string& entry);

  /// Loads a rung's kernel, unless it is loaded, for that many bytes of dynamic shared memory. The
  /// context must be current. Throws DriverError, also if the build has no code of it for the
  /// device.
  Function load(const KernelName& kernel, std::int64_t shared_bytes);

  /// Puts a launch into the queue; there may be more arguments than the kernel takes. `threads` is
  /// the most that the virtual GPU may use of this machine. Throws KernelError, naming the entry,
  /// if the device refuses the launch or has found it to have failed: its memory is lost then.
  void launch(Function function, const std::string& entry, const Launch& launch, void** arguments,
              int threads);
  /// The same of a rung's kernel, loaded if need be.
  void launch(const KernelName& kernel, const Launch& launch, void** arguments, int threads);
  /// Runs what launches by itself, by the driver's calls: observed, as launch() is, on the virtual
  /// GPU.
  virtual void observe(const std::function<void()>& launches, int /*threads*/) { launches(); }
  /// Returns when the queue is empty. Throws KernelError likewise.
  void wait(const std::string& entry);

  /// The queue, for libraries that have launches of their own.
  Stream stream();
  /// Throws the KernelError of a launch or a wait that gave `result`, after taking a new context.
  [[noreturn]] void fail(const std::string& entry, Result result);

  /// How often memory was lost: what was allocated before is nobody's.
  int generation();

 protected:
  virtual Result start(Function function, const Launch& launch, void** arguments, int threads);
  /// A failed kernel leaves a context of no use: takes a new one.
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
  std::map<const Image*, Module> modules_;
  KernelTable kernels_;
};

}  // namespace rung::cuda
