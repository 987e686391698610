#pragma once
// What the library keeps for a context of the CUDA driver: its kernels, loaded, and workspaces.

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
#include "library/cuda/select.hpp"
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
  int multiprocessors() const { return limits_.multiprocessors; }
  Workspaces& workspaces() { return workspaces_; }

  /// The choice with the plan that is fastest here for a problem of that size.
  template <class Problem>
  CudaGemmChoice planned(CudaGemmChoice choice, Dtype dtype, const Problem& g) const {
    if (tiles_of(*choice.rung, dtype).empty()) return choice;
    choice.plan = tuned_.nearest(*choice.rung, choice.id, dtype, {g.m, g.n, g.k}, limits_);
    return choice;
  }

  /// The kernel of a choice, ready for so many bytes of dynamic shared memory. Loaded at the first
  /// call; from then on neither locks nor allocates. Throws rung::Error and std::bad_alloc.
  Function function(const CudaGemmChoice& choice, Dtype dtype, std::int64_t shared_bytes) {
    Entry& entry = entries_.at(index_of(choice, dtype));
    const Function loaded = entry.function.load(std::memory_order_acquire);
    const bool ready =
        loaded != nullptr && shared_bytes <= entry.shared_bytes.load(std::memory_order_acquire);
    return ready ? loaded : prepare(entry, choice, dtype, shared_bytes);
  }

 private:
  /// A kernel, and the dynamic shared memory that it may use.
  struct Entry {
    std::atomic<Function> function = nullptr;
    std::atomic<std::int64_t> shared_bytes = plain_shared_bytes;
  };

  // Two more than the ladder: scaling alone, and copies of operands.
  static constexpr std::size_t rungs = gemm_rungs.size() + 2;
  static constexpr std::size_t most_tiles = 16;

  static std::size_t index_of(const CudaGemmChoice& choice, Dtype dtype) {
    const auto tile = static_cast<std::size_t>(choice.plan.tile);
    return (choice.index * most_tiles + tile) * all_dtypes.size() + static_cast<std::size_t>(dtype);
  }

  Function prepare(Entry& entry, const CudaGemmChoice& choice, Dtype dtype,
                   std::int64_t shared_bytes);
  Module load(std::string_view id);

  Driver driver_;
  Target target_;
  Limits limits_;
  TunedPlans tuned_;
  Workspaces workspaces_;
  std::array<Entry, rungs * most_tiles * all_dtypes.size()> entries_;

  std::mutex mutex_;
  std::map<const Image*, Module> modules_;
};

/// Of the calling thread's current context; where none is current, the primary context of device 0
/// becomes so. Throws rung::Error.
ContextCache& current_context();

}  // namespace rung::cuda
