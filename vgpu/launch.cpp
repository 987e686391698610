#include "vgpu/launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <unordered_map>

#include "vgpu/engine/control/device_launches.hpp"
#include "vgpu/engine/execution/block.hpp"
#include "vgpu/engine/execution/report.hpp"
#include "vgpu/engine/execution/worker.hpp"
#include "vgpu/engine/numbers/rounding.hpp"
#include "vgpu/model/kernel.hpp"
#include "vgpu/model/schedule.hpp"
#include "vgpu/observers/policies.hpp"
#include "vgpu/tracked_launch.hpp"

namespace rung::vgpu {
namespace {

/// CPU time of all threads of the process.
double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void require(bool holds, std::string_view what, std::uint64_t value, std::uint64_t limit) {
  if (holds) return;
  throw std::invalid_argument(fmt::format("{} {}: at most {}", what, value, limit));
}

/// The largest extents in which GPUs differ. CUDA's are in the table of technical specifications of its programming
/// guide; Metal limits only the threads of a threadgroup.
struct MostExtents {
  std::uint64_t block_z = 64;
  std::uint64_t grid_yz = 65535;
};

MostExtents most_extents(const DeviceDescription& device) {
  if (!device.name.starts_with("Apple")) return {};
  return {static_cast<std::uint64_t>(device.max_threads_per_block), 0x7FFFFFFF};
}

void check(const KernelInfo& kernel, const LaunchOptions& options,
           std::span<const std::byte> parameters, const DeviceDescription& device) {
  const Dim3& block = options.block;
  const Dim3& grid = options.grid;
  if (block.count() == 0 || grid.count() == 0) {
    throw std::invalid_argument(
        fmt::format("{}: grid {}x{}x{} of blocks {}x{}x{}: no dimension may be 0", kernel.name,
                    grid.x, grid.y, grid.z, block.x, block.y, block.z));
  }
  if (options.grid_threads) {
    const Dim3& all = *options.grid_threads;
    const auto ceil_div = [](std::uint32_t a, std::uint32_t b) {
      return a / b + (a % b != 0 ? 1 : 0);
    };
    if (ceil_div(all.x, block.x) != grid.x || ceil_div(all.y, block.y) != grid.y ||
        ceil_div(all.z, block.z) != grid.z) {
      throw std::invalid_argument(fmt::format(
          "{}: {}x{}x{} threads in blocks of {}x{}x{} are not {}x{}x{} blocks", kernel.name, all.x,
          all.y, all.z, block.x, block.y, block.z, grid.x, grid.y, grid.z));
    }
  }
  const MostExtents extents = most_extents(device);
  const auto threads = static_cast<std::uint64_t>(device.max_threads_per_block);
  require(block.count() <= threads, "threads of a block:", block.count(), threads);
  require(block.x <= 1024, "block.x:", block.x, 1024);
  require(block.y <= 1024, "block.y:", block.y, 1024);
  require(block.z <= extents.block_z, "block.z:", block.z, extents.block_z);
  require(block.count() <= static_cast<std::uint64_t>(kernel.max_threads),
          kernel.name + ", threads of a block:", block.count(),
          static_cast<std::uint64_t>(kernel.max_threads));
  const Dim3& cluster = options.cluster;
  if (cluster.count() == 0 || grid.x % cluster.x != 0 || grid.y % cluster.y != 0 ||
      grid.z % cluster.z != 0) {
    throw std::invalid_argument(
        fmt::format("{}: grid {}x{}x{} in clusters of {}x{}x{} blocks: no multiple", kernel.name,
                    grid.x, grid.y, grid.z, cluster.x, cluster.y, cluster.z));
  }
  require(cluster.count() <= 16, "blocks of a cluster:", cluster.count(), 16);
  require(grid.x <= 0x7FFFFFFFu, "grid.x:", grid.x, 0x7FFFFFFFu);
  require(grid.y <= extents.grid_yz, "grid.y:", grid.y, extents.grid_yz);
  require(grid.z <= extents.grid_yz, "grid.z:", grid.z, extents.grid_yz);
  const auto shared = static_cast<std::uint64_t>(kernel.static_shared + options.dynamic_shared);
  const auto most = static_cast<std::uint64_t>(device.shared_per_block_optin);
  require(shared <= most, "bytes of shared memory:", shared, most);
  if (parameters.size() < kernel.parameter_bytes) {
    throw std::invalid_argument(fmt::format("{}: {} bytes of parameters: it takes {}", kernel.name,
                                            parameters.size(), kernel.parameter_bytes));
  }
}

std::vector<const Allocation*> allocations_of(std::span<const std::byte> parameters,
                                              const DeviceMemory& memory) {
  std::vector<const Allocation*> found(parameters.size() / 8, nullptr);
  for (std::size_t i = 0; i < found.size(); ++i) {
    std::uint64_t value;
    std::memcpy(&value, parameters.data() + 8 * i, sizeof value);
    found[i] = memory.find(value);
  }
  return found;
}

/// Uses the cluster size that the kernel itself specifies (.reqnctapercluster), if it does.
LaunchOptions with_cluster(const KernelInfo& kernel, LaunchOptions options) {
  const auto& required = kernel.required_cluster;
  if (required[0] == 0) return options;
  const auto extent = [](std::int64_t blocks) {
    return static_cast<std::uint32_t>(std::max<std::int64_t>(blocks, 1));
  };
  options.cluster = {extent(required[0]), extent(required[1]), extent(required[2])};
  return options;
}

void find_written(LaunchState& launch) {
  launch.writes_anywhere = launch.kernel.writes_unknown;
  for (const std::uint32_t offset : launch.kernel.written_parameters) {
    const std::size_t index = offset / 8;
    const Allocation* allocation =
        index < launch.parameter_allocations.size() ? launch.parameter_allocations[index] : nullptr;
    if (allocation == nullptr) {
      launch.writes_anywhere = true;
    } else {
      launch.written.push_back(allocation);
    }
  }
}

void run_workers(std::vector<std::unique_ptr<Worker>>& workers) {
  std::vector<std::jthread> threads;
  std::exception_ptr failure;
  std::mutex mutex;
  const auto run = [&](Worker& worker) {
    const DefaultEnvironment environment;
    try {
      worker.run();
    } catch (...) {
      const std::lock_guard lock(mutex);
      worker.launch.stop = true;
      if (!failure) failure = std::current_exception();
    }
  };
  for (std::size_t i = 1; i < workers.size(); ++i) {
    threads.emplace_back([&, i] { run(*workers[i]); });
  }
  run(*workers[0]);
  threads.clear();
  if (failure) std::rethrow_exception(failure);
}

/// The CPU time of a block in the last launch of each kernel, by the kernel's address: one that has gone leaves a
/// time that the first launch of its successor replaces.
class BlockTimes {
 public:
  void note(const Kernel& kernel, double seconds, std::uint64_t blocks) {
    const std::lock_guard lock(mutex_);
    seconds_[&kernel] = seconds / static_cast<double>(std::max<std::uint64_t>(blocks, 1));
  }
  /// The number of host threads for a launch: to start them takes longer than a short launch.
  std::uint64_t threads(const Kernel& kernel, std::uint64_t blocks) const {
    constexpr double short_launch = 2e-4;
    const std::lock_guard lock(mutex_);
    const auto known = seconds_.find(&kernel);
    const bool is_short =
        known != seconds_.end() && known->second * static_cast<double>(blocks) < short_launch;
    return is_short ? 1 : std::max(1U, std::thread::hardware_concurrency());
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<const Kernel*, double> seconds_;
};
BlockTimes& block_times() {
  static BlockTimes& times = *new BlockTimes;
  return times;
}

// %gridid has this bit in cooperative launches, for rung_emu/groups/grid.h. PTX leaves the number open.
constexpr std::uint64_t cooperative_grid = std::uint64_t{1} << 63;

}  // namespace

void check_launch(const Kernel& kernel, const LaunchOptions& options,
                  std::span<const std::byte> parameters, const DeviceDescription& device) {
  check(kernel.info, with_cluster(kernel.info, options), parameters, device);
}

LaunchReport launch(const Kernel& kernel, const LaunchOptions& asked,
                    std::span<const std::byte> parameters, DeviceMemory& memory,
                    const DeviceDescription& device) {
  const LaunchOptions options = with_cluster(kernel.info, asked);
  check_launch(kernel, options, parameters, device);
  static std::atomic<std::uint64_t> launches{0};
  const Observers& policy = options.observe ? observers::full() : observers::none();
  LaunchState state(kernel, options, parameters, memory, device, policy);
  state.grid_id = ++launches | (options.cooperative ? cooperative_grid : 0);
  state.shared_bytes =
      static_cast<std::uint32_t>(kernel.info.static_shared + options.dynamic_shared);
  state.parameter_allocations = allocations_of(parameters, memory);
  find_written(state);
  if (options.observe) state.first_block = memory.number_blocks(options.grid.count());

  const double begin = cpu_seconds();
  std::optional<Schedule> schedule;
  if (const std::uint64_t seed = next_launch_seed()) schedule.emplace(seed);
  const RunningSchedule running(schedule ? &*schedule : nullptr);
  // Clusters that run on other CPU threads would leave it to chance which launches are cancelled.
  const bool in_sequence = schedule || kernel.cancels_launches;
  const std::uint64_t wanted = in_sequence ? 1
                               : options.threads != 0
                                   ? options.threads
                                   : block_times().threads(kernel, options.grid.count());
  std::vector<std::unique_ptr<Worker>> workers;
  for (std::uint64_t i = 0; i < std::min(wanted, options.grid.count()); ++i) {
    workers.push_back(std::make_unique<Worker>(state));
  }
  run_workers(workers);

  LaunchReport report;
  report.seconds = cpu_seconds() - begin;
  block_times().note(kernel, report.seconds, options.grid.count());
  report.kernel = kernel.info.name;
  report.grid = options.grid;
  report.block = options.block;
  report.shared = state.shared_bytes;
  report.observed = options.observe;
  add_up(workers, report);
  report.hazards = state.hazards->sorted();
  report.printed = state.printed.text();
  for (const Hazard& hazard : report.hazards) {
    if (is_fault(hazard.kind) && !report.fault) report.fault = hazard.kind;
  }
  return report;
}

bool may_track_again(const Kernel& kernel, const LaunchOptions& options) {
  return kernel.tracking.make && kernel.calls.empty() && !kernel.asynchronous &&
         options.cluster.count() == 1 && options.observe && !options.watcher;
}

void track_from_now_on(const Kernel& kernel) { kernel.tracking.wanted = true; }

const KernelInfo& info(const Kernel& kernel) { return kernel.info; }
const std::vector<Site>& sites(const Kernel& kernel) { return kernel.sites; }
bool calls_printf(const Kernel& kernel) { return kernel.prints; }

std::vector<DeviceLaunch> take_launches_of_kernels(const DeviceMemory& memory) {
  return take_device_launches(memory);
}

}  // namespace rung::vgpu
