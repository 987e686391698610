#pragma once
// The library's state for a CUDA context: loaded kernels and workspaces.

#include <cstdint>

#include "backends/cuda/kernel_table.hpp"
#include "backends/cuda/select_image.hpp"
#include "library/cuda/capture.hpp"
#include "library/cuda/driver.hpp"
#include "library/cuda/stream_pool.hpp"
#include "library/cuda/workspaces.hpp"
#include "select/cuda/select.hpp"
#include "select/cuda/tuned.hpp"

namespace rung::cuda {

class ContextCache {
 public:
  /// For the current context. Throws rung::Error.
  explicit ContextCache(const Driver& driver);
  ContextCache(const ContextCache&) = delete;
  ContextCache& operator=(const ContextCache&) = delete;

  const DriverApi& api() const { return *driver_.api; }
  Device device() const { return device_; }
  int arch() const { return target_.arch; }
  const Limits& limits() const { return limits_; }
  Workspaces& workspaces() { return workspaces_; }
  StreamPool& pool() { return pool_; }

  /// Configures the choice, or its rival if that is predicted to be faster, for a problem of that
  /// size. The limits are at most those of the device.
  CudaGemmChoice configured(CudaGemmChoice choice, const GemmCall& g, const Limits& limits) const;

  /// A kernel that may use that many bytes of dynamic shared memory. The first call loads it; later
  /// calls neither lock nor allocate. Throws rung::Error and std::bad_alloc.
  Function function(const KernelName& kernel, std::int64_t shared_bytes) {
    const Function loaded = kernels_.find(kernel, shared_bytes);
    if (loaded != nullptr) return loaded;
    const AllowedDuringCapture allowed(api());
    return kernels_.load(kernel, shared_bytes);
  }

 private:
  std::uint64_t number_;  // unique for the process
  Driver driver_;
  Device device_;
  Target target_;
  Limits limits_;
  TunedConfigs tuned_;
  Workspaces workspaces_;
  StreamPool& pool_;
  KernelTable kernels_;
};

/// The cache of the calling thread's current context. If no context is current, the primary context
/// of device 0 becomes current. Throws rung::Error.
ContextCache& current_context();

}  // namespace rung::cuda
