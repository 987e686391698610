// Runs kernels, and the kernels that they launch.

#include "vgpu/driver/kernel_launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <mutex>
#include <utility>

#include "vgpu/driver/call.hpp"
#include "vgpu/driver/context_memory.hpp"
#include "vgpu/driver/resources.hpp"
#include "vgpu/inlined_callers.hpp"
#include "vgpu/memory/written_bytes.hpp"
#include "vgpu/tracked_launch.hpp"

namespace rung::vgpu::driver {
namespace {

/// The result that a GPU's driver returns for a fault.
Result result_of(const LaunchReport& report) {
  switch (*report.fault) {
    case HazardKind::out_of_bounds:
    case HazardKind::read_only_write: return Result::illegal_address;
    case HazardKind::misaligned: return Result::misaligned_address;
    // On a GPU without a watchdog, these two hang.
    case HazardKind::instruction_limit:
    case HazardKind::deadlock: return Result::launch_timeout;
    default: break;
  }
  const bool asserted =
      std::any_of(report.hazards.begin(), report.hazards.end(), [](const Hazard& hazard) {
        return hazard.kind == HazardKind::trap && hazard.first.access == "assert";
      });
  return asserted ? Result::assert_triggered : Result::launch_failed;
}

std::string message_of(const LaunchReport& report) {
  for (const Hazard& hazard : report.hazards) {
    if (hazard.kind == *report.fault) return fmt::format("{}: {}", report.kernel, hazard.message);
  }
  return fmt::format("{}: {}", report.kernel, name(*report.fault));
}

/// True if this kernel has run often enough (LaunchDefaults::launches_per_kernel).
bool is_skipped(const Kernel& kernel) {
  const std::uint64_t most = process().defaults.launches_per_kernel;
  return most != 0 && process().launch_counts[info(kernel).name]++ >= most;
}

/// The kernel that runs, for running_launch().
class Running {
 public:
  explicit Running(const Kernel& kernel) {
    const std::lock_guard lock(mutex_);
    kernel_ = &kernel;
    start_ = std::chrono::steady_clock::now();
  }
  ~Running() {
    const std::lock_guard lock(mutex_);
    kernel_ = nullptr;
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  static std::optional<RunningLaunch> get() {
    const std::lock_guard lock(mutex_);
    if (kernel_ == nullptr) return std::nullopt;
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start_;
    return RunningLaunch{info(*kernel_).name, time.count()};
  }

 private:
  static inline std::mutex mutex_;
  static inline const Kernel* kernel_ = nullptr;
  static inline std::chrono::steady_clock::time_point start_;
};

LaunchOptions options_of(const ContextState& context, const Launch& launch) {
  LaunchOptions options = launch.options;
  const LaunchDefaults& defaults = process().defaults;
  options.starts_early = options.starts_early || process().starts_early;
  options.observe = defaults.observe;
  options.threads = defaults.threads;
  options.instruction_limit = defaults.instruction_limit;
  options.hazard_limit = defaults.hazard_limit;
  options.watcher = process().watcher;
  options.printf_bytes = context.limits.at(cuda::Limit::printf_fifo_size);
  return options;
}

/// True if an earlier run may stand for the launch: its effects depend on memory alone, and its
/// accesses are not watched.
bool may_be_remembered(const Launch& launch, const LaunchOptions& options) {
  return process().defaults.remembers_launches && launch.module->depends_on_memory_only &&
         !options.watcher && process().contexts.size() == 1;
}

/// A copy of the context's memory, by which a launch can be taken back.
class MemoryBefore {
 public:
  explicit MemoryBefore(const ContextState& context) {
    for (const Allocation& allocation : context.memory.live()) keep(context, allocation.address);
    for_each_other(context, [&](std::uint64_t address, std::size_t) { keep(context, address); });
  }
  void restore(ContextState& context) const {
    for (const Kept& kept : kept_) {
      Allocation* const allocation = context.memory.find(kept.address);
      if (allocation == nullptr) continue;
      std::ranges::copy(kept.data, allocation->data(kept.address));
      if (allocation->host) continue;
      std::ranges::copy(kept.written, allocation->shadow(kept.address));
      allocation->all_initialised = kept.all_initialised;
      forget_lines(*allocation, kept.address, allocation->bytes);
    }
  }

 private:
  struct Kept {
    std::uint64_t address;
    std::vector<std::byte> data;
    std::vector<std::uint8_t> written;
    bool all_initialised;
  };
  void keep(const ContextState& context, std::uint64_t address) {
    const Allocation* const allocation = context.memory.find(address);
    if (allocation == nullptr || allocation->read_only) return;
    const std::byte* const data = allocation->data(address);
    Kept kept = {address, {data, data + allocation->bytes}, {}, allocation->all_initialised};
    if (!allocation->host) {
      const std::uint8_t* const written = allocation->shadow(address);
      kept.written.assign(written, written + allocation->bytes);
    }
    kept_.push_back(std::move(kept));
  }

  std::vector<Kept> kept_;
};

/// True if the launch may show reads of unwritten shared memory that only a run which tracks these values from the
/// start can decide, and may be taken back for it: at its kernel's first run, in little memory.
bool may_run_again(ContextState& context, const Launch& launch, const LaunchOptions& options) {
  constexpr std::size_t most_bytes = std::size_t{16} << 20;
  const Kernel& kernel = *launch.function->kernel;
  return may_track_again(kernel, options) && context.kernels_run.insert(&kernel).second &&
         bytes_of(context) <= most_bytes;
}

/// True if a read of unwritten shared memory was reported because its block had written to global memory.
bool has_undecided(const LaunchReport& report) {
  return !report.fault && std::ranges::any_of(report.hazards, [](const Hazard& hazard) {
    return hazard.kind == HazardKind::uninitialised_read &&
           hazard.first.instruction.find("ld.shared") != std::string::npos;
  });
}

/// A part of messages by which reports recognise harmless early accesses (emu/reports/severity.cpp).
constexpr const char* no_conflict_in_this_run =
    "; no operation that may still run accesses these bytes in this run";

/// Makes notes of early accesses that conflict with no operation.
void mark_harmless_early_accesses(LaunchReport& report) {
  for (Hazard& hazard : report.hazards) {
    if (hazard.kind == HazardKind::early_access) hazard.message += no_conflict_in_this_run;
  }
}

void tell_observer(const LaunchReport& report, const Kernel& kernel) {
  // Copied, because the observer may replace itself.
  const LaunchObserver observer = process().observer;
  if (observer) observer(report, kernel);
}

/// Tells what the launch would do, if an earlier run shows it (driver/launch_memo.hpp).
bool is_remembered(ContextState& context, const LaunchKey& key, const Launch& launch,
                   const LaunchOptions& options) {
  const RememberedLaunch* const earlier = context.launch_memo.find(key, context);
  if (earlier == nullptr) return false;
  const Kernel& kernel = *launch.function->kernel;
  ProgramOrder& order = process().order;
  if (order.is_on() && options.observe) {
    order.describe("kernel", info(kernel).name);
    order.start_kernel(options.starts_early);
    order.access(LaunchAccesses(!order.records_all_memory()), context.memory);
  }
  LaunchReport report = earlier->report;
  report.seconds = 0;
  tell_observer(report, kernel);
  return true;
}

/// Runs a kernel, but not the kernels that it launches.
void run_alone(ContextState& context, const Launch& launch) {
  context.launched_threads = 0;
  if (is_skipped(*launch.function->kernel)) return;
  context.launched_threads = launch.options.grid.count() * launch.options.block.count();
  flush_printed(context);
  LaunchOptions options = options_of(context, launch);
  const Kernel& kernel = *launch.function->kernel;
  LaunchKey key(&kernel, options, launch.parameters);
  // Another module's kernel may get the address of one that was unloaded.
  key.extents.push_back(reinterpret_cast<std::uintptr_t>(launch.function->module_handle));
  const bool may_repeat = may_be_remembered(launch, options);
  if (may_repeat && is_remembered(context, key, launch, options)) return;
  const std::uint64_t observed = process().defaults.observed_launches;
  const bool is_left =
      options.observe && observed != 0 && context.launch_memo.count(key) > observed;
  options.observe = options.observe && !is_left;
  context.launch_memo.note_run(info(kernel).name, !is_left);
  if (calls_printf(kernel)) context.has_printed = true;
  ProgramOrder& order = process().order;
  std::optional<MemoryBefore> before;
  if (may_run_again(context, launch, options)) before.emplace(context);
  if (order.is_on() && options.observe) {
    order.describe("kernel", info(kernel).name);
    options.starts_early = order.start_kernel(options.starts_early);
  }
  std::optional<LaunchAccesses> recorded;
  const auto run_once = [&] {
    const Running running(kernel);
    recorded.emplace(!order.records_all_memory());
    if (order.is_on() && options.observe) options.accesses = &*recorded;
    return vgpu::launch(kernel, options, launch.parameters, context.memory, process().device);
  };
  LaunchReport report = run_once();
  if (before && has_undecided(report)) {
    before->restore(context);
    track_from_now_on(kernel);
    report = run_once();
  }
  const LaunchAccesses& accesses = *recorded;
  if (options.accesses != nullptr && !order.access(accesses, context.memory)) {
    mark_harmless_early_accesses(report);
  }
  add_callers(report, launch.module->module->text());
  if (!options.observe) context.memory.assume_initialised();
  context.printed = report.printed;
  if (report.fault) {
    context.sticky = result_of(report);
    context.sticky_message = message_of(report);
  }
  // The order of accesses to the host's memory must be checked each time.
  const bool has_accesses = !accesses.touched(false).empty() || !accesses.touched(true).empty();
  if (may_repeat && !has_accesses) context.launch_memo.remember(key, context, report);
  tell_observer(report, kernel);
}

// Maximum nesting depth: CUDA C++ Programming Guide, "CUDA Dynamic Parallelism", "Configuration
// Options".
constexpr int deepest_launch = 24;

/// Builds a launch that a kernel has requested, with the same checks as for launches by the host.
Launch child_of(const ContextState& context, const std::shared_ptr<ModuleState>& module,
                const DeviceLaunch& asked) {
  Launch launch;
  launch.function = function_at(module, asked.kernel);
  launch.module = module;
  launch.options.grid = asked.grid;
  launch.options.block = asked.block;
  launch.options.dynamic_shared = asked.dynamic_shared;
  const KernelInfo& kernel = info(*launch.function->kernel);
  if (kernel.parameter_bytes > launch_buffer_bytes) {
    fail(Result::invalid_value,
         fmt::format("{}: {} bytes of parameters: at most {} if a kernel launches it", kernel.name,
                     kernel.parameter_bytes, launch_buffer_bytes));
  }
  launch.parameters.resize(kernel.parameter_bytes);
  context.memory.read(launch.parameters.data(), asked.parameters, kernel.parameter_bytes);
  check(*launch.function, launch.options, launch.parameters);
  return launch;
}

/// Passes a kernel's launch to `run_it` and frees its parameters. Skips the launch if an earlier
/// one has failed.
template <class Run>
void run_child(ContextState& context, const std::shared_ptr<ModuleState>& module,
               const DeviceLaunch& asked, const Run& run_it) {
  if (context.sticky == Result::success) {
    try {
      run_it(child_of(context, module, asked));
    } catch (...) {
      context.sticky = result_of_exception();
      context.sticky_message = last_message();
    }
  }
  context.memory.free(asked.parameters);
}

// Children run after the parent kernel has ended, tail launches last. A GPU may choose this order
// too, because nothing in a kernel can wait for its children. A tail launch replaces its parent: it
// may make the next tail launch, without a limit on the nesting.
void run_children(ContextState& context, const std::shared_ptr<ModuleState>& module, int depth) {
  constexpr std::uint64_t tail_launch = 3;  // cudaStreamTailLaunch
  std::deque<DeviceLaunch> tails;
  const auto run_nested = [&] {
    const std::vector<DeviceLaunch> asked = take_launches_of_kernels(context.memory);
    std::size_t own_tails = 0;
    for (const DeviceLaunch& each : asked) {
      if (each.stream == tail_launch) {
        tails.insert(tails.begin() + static_cast<std::ptrdiff_t>(own_tails++), each);
        continue;
      }
      run_child(context, module, each, [&](const Launch& launch) {
        require(depth < deepest_launch, Result::launch_failed,
                "kernels launch kernels more than 24 deep");
        run(context, launch, depth + 1);
      });
    }
  };
  for (run_nested(); !tails.empty(); run_nested()) {
    const DeviceLaunch tail = tails.front();
    tails.pop_front();
    run_child(context, module, tail, [&](const Launch& launch) { run_alone(context, launch); });
  }
}

void check_cluster(const FunctionState& function, const LaunchOptions& options) {
  const Dim3& grid = options.grid;
  const Dim3& cluster = options.cluster;
  // Clusters of more than 8 blocks need a non-portable attribute, and only some devices support
  // them.
  const std::uint64_t most = function.non_portable_cluster ? 16 : 8;
  const bool fits = cluster.count() != 0 && cluster.count() <= most && grid.x % cluster.x == 0 &&
                    grid.y % cluster.y == 0 && grid.z % cluster.z == 0;
  if (fits) return;
  fail(
      Result::invalid_cluster_size,
      fmt::format("{}: clusters of {}x{}x{} blocks in a grid of {}x{}x{}: at most {}, and divisors "
                  "of the grid's sizes",
                  info(*function.kernel).name, cluster.x, cluster.y, cluster.z, grid.x, grid.y,
                  grid.z, most));
}

}  // namespace

void check(const FunctionState& function, const LaunchOptions& options,
           std::span<const std::byte> parameters) {
  const KernelInfo& kernel = info(*function.kernel);
  if (options.dynamic_shared > function.max_dynamic_shared) {
    fail(Result::invalid_value,
         fmt::format(
             "{}: {} bytes of dynamic shared memory: at most {}, unless cudaFuncSetAttribute "
             "or cuFuncSetAttribute allows more",
             kernel.name, options.dynamic_shared, function.max_dynamic_shared));
  }
  const DeviceDescription& device = process().device;
  check_cluster(function, options);
  check_launch(*function.kernel, options, parameters, device);
  if (!options.cooperative) return;
  const auto threads = static_cast<int>(options.block.count());
  const std::int64_t together =
      std::int64_t{device.multiprocessors} *
      occupancy(device, resources_of(function), threads, options.dynamic_shared).blocks;
  if (options.grid.count() > static_cast<std::uint64_t>(together)) {
    fail(Result::cooperative_launch_too_large,
         fmt::format("{}: a cooperative launch of {} blocks: at most {} run at once", kernel.name,
                     options.grid.count(), together));
  }
}

void run(ContextState& context, const Launch& launch, int depth) {
  run_alone(context, launch);
  run_children(context, launch.module, depth);
}

}  // namespace rung::vgpu::driver

namespace rung::vgpu {

std::optional<RunningLaunch> running_launch() { return driver::Running::get(); }

}  // namespace rung::vgpu
