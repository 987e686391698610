#pragma once
// The kernels loaded in one context of the driver, each at its first use.

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string_view>

#include "backends/cuda/select_image.hpp"
#include "backends/cuda/start.hpp"
#include "backends/rungs/kernel_name.hpp"
#include "core/cuda_driver/api.hpp"

namespace rung::cuda {

class KernelTable {
 public:
  /// Translates failures into exceptions.
  struct Errors {
    /// Throws unless the result is success. `what` names the call or the kernel.
    void (*check)(const DriverApi& api, Result result, std::string_view what);
    /// Throws: the build has no code for the rung on the target.
    void (*no_image)(std::string_view id, const Target& target);
  };

  /// `api` and `target` must outlive the table.
  KernelTable(const DriverApi& api, const Target& target, const Errors& errors)
      : api_(api), target_(target), errors_(errors) {}
  KernelTable(const KernelTable&) = delete;
  KernelTable& operator=(const KernelTable&) = delete;

  /// Returns the kernel if it is loaded and may use that many bytes of dynamic shared memory,
  /// otherwise null. Takes no lock.
  Function find(const KernelName& kernel, std::int64_t shared_bytes) const {
    const Entry& entry = entries_.at(kernel.index);
    const Function loaded = entry.function.load(std::memory_order_acquire);
    const bool is_ready =
        loaded != nullptr && shared_bytes <= entry.shared_bytes.load(std::memory_order_acquire);
    return is_ready ? loaded : nullptr;
  }
  /// Returns the kernel and loads it at its first use. The context must be current.
  Function load(const KernelName& kernel, std::int64_t shared_bytes);

  /// Unloads all modules of the current context.
  void unload();
  /// Discards all kernels without unloading them, because their context is lost.
  void forget();

 private:
  struct Entry {
    std::atomic<Function> function = nullptr;
    std::atomic<std::int64_t> shared_bytes = plain_shared_bytes;  // limit of the kernel
  };

  /// Loads the best form of the kernel that the driver accepts. A driver may reject machine code
  /// for its own device, for example if it translates PTX or emulates another driver.
  Module module_of(const KernelName& kernel);

  const DriverApi& api_;
  const Target& target_;
  Errors errors_;
  std::array<Entry, kernel_count> entries_;

  std::mutex mutex_;
  RefusedCodes refused_;
  std::map<const Unit*, Module> modules_;
};

}  // namespace rung::cuda
