#pragma once
// The library's state for a CUDA context: loaded kernels and workspaces.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "backends/cuda/rungs.hpp"
#include "backends/cuda/select_image.hpp"
#include "backends/cuda/start.hpp"
#include "backends/cuda/tuned.hpp"
#include "library/cuda/driver.hpp"
#include "library/cuda/kernel_name.hpp"
#include "library/cuda/select.hpp"
#include "library/cuda/stream_pool.hpp"
#include "library/cuda/workspaces.hpp"

namespace rung::cuda {

class ContextCache {
 public:
  /// Of the current context. Throws rung::Error.
  explicit ContextCache(const Driver& driver);
  ContextCache(const ContextCache&) = delete;
  ContextCache& operator=(const ContextCache&) = delete;

  const DriverApi& api() const { return *driver_.api; }
  int arch() const { return target_.arch; }
  const Limits& limits() const { return limits_; }
  Workspaces& workspaces() { return workspaces_; }
  StreamPool& pool() { return pool_; }

  /// The choice with the fastest configuration on this device for a problem of that size.
  template <class Problem>
  CudaGemmChoice planned(CudaGemmChoice choice, Dtype dtype, const Problem& g) const {
    if (tiles_of(*choice.rung, dtype).empty()) return choice;
    choice.plan = tuned_.nearest(*choice.rung, choice.id, dtype, {g.m, g.n, g.k}, limits_);
    return choice;
  }

  /// A kernel that may use that many bytes of dynamic shared memory. The first call loads it; later
  /// calls neither lock nor allocate. Throws rung::Error and std::bad_alloc.
  Function function(const KernelName& kernel, std::int64_t shared_bytes) {
    Entry& entry = entries_.at(kernel.place);
    const Function loaded = entry.function.load(std::memory_order_acquire);
    const bool ready =
        loaded != nullptr && shared_bytes <= entry.shared_bytes.load(std::memory_order_acquire);
    return ready ? loaded : prepare(entry, kernel, shared_bytes);
  }

 private:
  /// A kernel, and the dynamic shared memory that it may use.
  struct Entry {
    std::atomic<Function> function = nullptr;
    std::atomic<std::int64_t> shared_bytes = plain_shared_bytes;
  };

  Function prepare(Entry& entry, const KernelName& kernel, std::int64_t shared_bytes);
  Module load(const KernelName& kernel);

  Driver driver_;
  Target target_;
  Limits limits_;
  TunedPlans tuned_;
  Workspaces workspaces_;
  StreamPool& pool_;
  std::array<Entry, kernel_places> entries_;

  std::mutex mutex_;
  std::map<const Unit*, Module> modules_;
};

/// The cache of the calling thread's current context. If there is none, the primary context of
/// device 0 becomes current. Throws rung::Error.
ContextCache& current_context();

}  // namespace rung::cuda
