#pragma once
// A worker: a CPU thread that runs blocks of a launch one after the other, and their counters.

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "vgpu/engine/execution/spinning.hpp"
#include "vgpu/happens_before/grid_order.hpp"
#include "vgpu/memory/device_memory.hpp"
#include "vgpu/model/device.hpp"
#include "vgpu/model/kernel.hpp"
#include "vgpu/model/shape.hpp"

namespace rung::vgpu {

class Block;
class Cluster;
class HazardLog;
struct Observers;

/// State shared by all workers of a launch.
struct LaunchState {
  LaunchState(const Kernel& kernel, const LaunchOptions& options,
              std::span<const std::byte> parameters, DeviceMemory& memory,
              const DeviceDescription& device, const Observers& observers);
  ~LaunchState();

  /// True if accesses to the allocation must be recorded, because something in this launch may
  /// write to it or has written to it.
  bool orders(const Allocation& allocation) const {
    if (allocation.stamps == nullptr) return false;
    if (writes_anywhere) return true;
    for (const Allocation* target : written) {
      if (target == &allocation) return true;
    }
    return std::atomic_ref(allocation.copied_in_launch).load(std::memory_order_relaxed) ==
           first_block;
  }

  const Kernel& kernel;
  const LaunchOptions& options;
  std::span<const std::byte> parameters;
  DeviceMemory& memory;
  const DeviceDescription& device;
  const Observers& observers;
  std::mutex watching;  // held during calls of LaunchOptions::watcher
  std::vector<const Allocation*> parameter_allocations;  // by byte offset / 8 of the parameter
  bool writes_anywhere = false;  // some store has an unknown target; otherwise see `written`
  std::vector<const Allocation*> written;  // the targets of all stores and atomics
  std::uint32_t shared_bytes = 0;          // static and dynamic
  std::uint64_t grid_id = 0;               // number of the launch
  std::uint64_t first_block = 1;           // number of its first block in stamps of global memory
  GridOrder order;
  std::unique_ptr<HazardLog> hazards;
  std::atomic<std::uint64_t> next_cluster{0};  // next to run; without clusters, each block is one
  std::atomic<std::uint64_t> instructions{0};  // run so far, for the instruction limit
  std::atomic<bool> stop{false};               // set by a fault, which ends the launch
  Spinning spinning;
  std::mutex printing;
  PrintedByBlock printed;
};

struct HazardEntry;

class Worker {
 public:
  explicit Worker(LaunchState& launch);
  ~Worker();

  /// Runs blocks until no more are left.
  void run();

  /// Adds the counts of batches of reads to `accesses`. Call once, at the end.
  void count_batches();

  /// Returns false, after a report, if the launch has exceeded its instruction limit.
  bool within_limit(Block& block);

  LaunchState& launch;
  const Kernel& kernel;
  const bool observe;
  const bool watched;             // `observe`, and the launch has a watcher
  LaunchAccesses* const touched;  // LaunchOptions::accesses; null if not `observe`
  const bool native;              // runs Kernel::native_code
  std::uint64_t spent = 0;        // number of warp instructions run
  std::vector<HazardEntry>* held_reports = nullptr;  // of HeldReports, if there is one
  int polls = 0;  // volatile, relaxed and acquiring loads in this turn of a warp

  // Counts per basic block, from which those of instructions follow.
  struct Executions {
    std::uint64_t times = 0;
    std::uint64_t idle_lanes = 0;  // sum over these executions
    std::uint64_t divergent = 0;   // executions whose branch went both ways
  };
  std::vector<Executions> executions;
  struct Accesses {
    std::uint64_t requests = 0;  // executions with at least one active lane
    std::uint64_t units = 0;     // sectors or wavefronts
    std::uint64_t issued_requests = 0, issued_wavefronts = 0;  // shared, after merging by ptxas

    Accesses& operator+=(const Accesses& other) {
      requests += other.requests;
      units += other.units;
      issued_requests += other.issued_requests;
      issued_wavefronts += other.issued_wavefronts;
      return *this;
    }
  };
  std::vector<Accesses> accesses;  // by site
  struct BatchCounts {
    std::uint64_t times = 0;
    std::array<std::uint64_t, 8> wavefronts{};  // by log2 of the bytes of an access
  };
  std::vector<BatchCounts> batches;           // by ReadBatch::index
  Counters apart;                             // not attributed to a site
  std::vector<std::uint64_t> predicated_off;  // by site: number of lanes whose guard was false

  std::vector<Shape> shapes;  // by slot, for the running basic block
  /// A superinstruction's code for the most recent shapes of its batches.
  struct TranslatedSteps {
    NativeSteps::Function function = nullptr;  // null: not requested yet, or not available
    NativeSteps::Repeated repeated;            // null if it would not be faster
    std::array<std::uint64_t, Superinstruction::max_batches> generations;  // of the shapes
    std::array<LoadSource, Superinstruction::max_batches> sources;
    std::array<const std::byte*, Superinstruction::max_batches * NativeSteps::max_runs> lows;
  };
  std::vector<TranslatedSteps> steps;  // by Superinstruction::index
  struct alignas(64) Scratch {
    std::array<std::byte, NativeSteps::max_scratch> bytes;
  };
  std::unique_ptr<Scratch> scratch;  // for NativeSteps::Repeated; allocated at its first use
  Shape scratch_shape;
  std::vector<const Allocation*> last_allocation;  // by MemoryOp::cache

 private:
  /// For a version of the launch's kernel.
  Worker(LaunchState& launch, const Kernel& version);

  std::unique_ptr<Cluster> started(std::uint64_t index);
  /// Starts the cluster's block again in the tracking version.
  std::unique_ptr<Cluster> restarted(std::unique_ptr<Cluster> cluster);
  Worker& tracking();
  void keep_counts();
  void restore_counts();
  void add_tracking_counts();
  void keep_output(const Cluster& cluster);

  /// The counts before the running block, to which they return if it starts again.
  struct Kept {
    std::vector<Executions> executions;
    std::vector<Accesses> accesses;             // of accessing_sites_
    std::vector<std::uint64_t> predicated_off;  // of Kernel::guarded_sites
    std::vector<BatchCounts> batches;
    Counters apart;
  };
  Kept kept_;
  std::vector<std::uint32_t> accessing_sites_;
  bool restarts_ = false;                       // blocks may start again in the tracking version
  std::unique_ptr<Worker> tracking_;            // runs those that do
  std::vector<std::unique_ptr<Cluster>> idle_;  // reused for their memory
  std::uint64_t counted_ = 0;  // the part of `spent` already added to LaunchState::instructions
};

/// Computes the counters of the report.
void add_up(const std::vector<std::unique_ptr<Worker>>& workers, LaunchReport& report);

}  // namespace rung::vgpu
