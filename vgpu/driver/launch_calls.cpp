// Kernel launches.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <mutex>
#include <span>
#include <utility>

#include "vgpu/driver/call.hpp"
#include "vgpu/driver/calls.hpp"
#include "vgpu/driver/dispatch.hpp"
#include "vgpu/driver/resources.hpp"

namespace rung::vgpu::driver {
namespace {

/// A launch with a copy of its arguments, as stored in a graph. Keeps the module loaded.
struct Launch {
  std::shared_ptr<FunctionState> function;
  std::shared_ptr<ModuleState> module;
  LaunchOptions options;
  std::vector<std::byte> parameters;
};

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
  LaunchAccesses accesses(!order.records_all_memory());
  if (order.is_on() && options.observe) {
    options.accesses = &accesses;
    order.describe("kernel", info(kernel).name);
    options.starts_early = order.start_kernel(options.starts_early);
  }
  LaunchReport report = [&] {
    const Running running(kernel);
    return vgpu::launch(kernel, options, launch.parameters, context.memory, process().device);
  }();
  if (options.accesses != nullptr && !order.access(accesses, context.memory)) {
    mark_harmless_early_accesses(report);
  }
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

void run_children(ContextState& context, const std::shared_ptr<ModuleState>& module, int depth);

/// Runs a kernel, then the kernels that it has launched. `depth`: nesting level; 0 for launches by
/// the host.
void run(ContextState& context, const Launch& launch, int depth = 0) {
  run_alone(context, launch);
  run_children(context, launch.module, depth);
}

/// True if a parameter contains an address of memory that the host can access, or if a variable is managed.
bool may_access_host_memory(const ContextState& context, const Launch& launch) {
  if (!process().pending.is_on()) return false;
  const auto is_managed = [](const auto& range) { return range.second.origin == Origin::managed; };
  if (std::ranges::any_of(context.ranges, is_managed)) return true;
  for (std::size_t at = 0; at + 8 <= launch.parameters.size(); at += 8) {
    std::uint64_t value;
    std::memcpy(&value, launch.parameters.data() + at, sizeof value);
    const Allocation* const found = context.memory.find(value);
    if (found != nullptr && found->host) return true;
  }
  return false;
}

/// Builds the parameter buffer from an array of pointers to the arguments.
std::vector<std::byte> gather(const KernelInfo& kernel, void** arguments) {
  std::vector<std::byte> buffer(kernel.parameter_bytes);
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    if (arguments[i] == nullptr) {
      fail(Result::invalid_value, fmt::format("{}: argument {} is null", kernel.name, i));
    }
    const KernelInfo::Parameter& parameter = kernel.parameters[i];
    std::memcpy(buffer.data() + parameter.offset, arguments[i], parameter.bytes);
  }
  return buffer;
}

/// Returns the parameter buffer that the caller has laid out (CU_LAUNCH_PARAM_BUFFER_POINTER).
std::vector<std::byte> take_buffer(const KernelInfo& kernel, void** extra) {
  const std::byte* begin = nullptr;
  std::size_t bytes = 0;
  for (std::size_t i = 0;; i += 2) {
    const auto key = reinterpret_cast<std::uintptr_t>(extra[i]);
    if (key == cuda::launch_param_end) break;
    require(key == cuda::launch_param_buffer_pointer || key == cuda::launch_param_buffer_size,
            Result::invalid_value, "not a key of a launch's extra options");
    if (key == cuda::launch_param_buffer_pointer) begin = static_cast<std::byte*>(extra[i + 1]);
    if (key == cuda::launch_param_buffer_size) bytes = *static_cast<std::size_t*>(extra[i + 1]);
  }
  if (begin == nullptr || bytes != kernel.parameter_bytes) {
    // A GPU's driver accepts a buffer that is too small and reads past its end.
    fail(bytes > kernel.parameter_bytes ? Result::launch_out_of_resources : Result::invalid_value,
         fmt::format("{}: {} bytes of parameters: it takes {}", kernel.name, bytes,
                     kernel.parameter_bytes));
  }
  return {begin, begin + kernel.parameter_bytes};
}

std::vector<std::byte> parameters_of(const KernelInfo& kernel, void** arguments, void** extra) {
  require(arguments == nullptr || extra == nullptr, Result::invalid_value,
          "arguments are given twice: as pointers, and as a buffer");
  if (extra != nullptr) return take_buffer(kernel, extra);
  if (kernel.parameters.empty()) return {};
  if (arguments == nullptr) {
    fail(Result::invalid_value, fmt::format("{} takes {} arguments, and none are given",
                                            kernel.name, kernel.parameters.size()));
  }
  return gather(kernel, arguments);
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

/// An event that a launch attribute names, and the point of the kernel's blocks that records it.
struct LaunchEvent {
  std::shared_ptr<EventState> event;
  GraphEdge::Port port;
};

LaunchEvent launch_event(ContextState& context, Event event, GraphEdge::Port port) {
  LaunchEvent found = {find_event(context, event), port};
  require((found.event->flags & cuda::event_disable_timing) != 0, Result::invalid_value,
          "the event of a launch attribute has timing: create it with cudaEventDisableTiming");
  process().order.raise(ProgramOrder::Level::all);
  return found;
}

/// Records the events, and returns their orders, which are known when the launch has run.
using Orders = std::vector<std::shared_ptr<EventOrder>>;
Orders new_orders(const std::vector<LaunchEvent>& events) {
  Orders orders;
  for (const LaunchEvent& each : events) {
    orders.push_back(std::make_shared<EventOrder>());
    EventState& event = *each.event;
    event.captured = false;
    event.recorded = true;
    event.pending.reset();
    event.order = orders.back();
  }
  return orders;
}

/// The last operation of the capture records the events.
void capture_events(const std::vector<LaunchEvent>& events, const std::shared_ptr<Capture>& capture,
                    std::uint64_t stream) {
  for (const LaunchEvent& each : events) {
    EventState& event = *each.event;
    event.captured = true;
    event.capture = capture;
    event.clock = capture->clocks[stream];
    event.launch = GraphEdge{capture->operations.size() - 1, each.port};
  }
}

void launch(ContextState& context, Function handle, const LaunchOptions& options, Stream stream,
            void** arguments, void** extra, const std::vector<LaunchEvent>& events = {}) {
  const StreamState& state = find_stream(context, stream);
  const auto capture = state.capture;
  Launch launch;
  try {
    launch.function = find_function(context, handle);
    launch.module = launch.function->module.lock();
    launch.options = options;
    launch.parameters = parameters_of(info(*launch.function->kernel), arguments, extra);
    check(*launch.function, options, launch.parameters);
  } catch (...) {
    if (capture != nullptr) capture->invalidated = true;
    throw;
  }
  const bool runs_now = may_access_host_memory(context, launch);
  const bool is_captured = capture != nullptr;
  Operation operation = [launch = std::move(launch), events,
                         orders =
                             is_captured ? Orders() : new_orders(events)](ContextState& running) {
    run(running, launch);
    for (std::size_t i = 0; i < orders.size(); ++i) {
      *orders[i] = process().order.recorded_by_kernel(events[i].port);
      events[i].event->time = std::chrono::steady_clock::now();
    }
  };
  if (runs_now) {
    enqueue(context, stream, std::move(operation));
  } else {
    const auto number = defer(context, stream, std::move(operation));
    for (const LaunchEvent& each : events) each.event->pending = number;
  }
  if (is_captured) capture_events(events, capture, state.id);
}

/// CUlaunchAttributeValue::programmaticEvent.
struct ProgrammaticEvent {
  Event event;
  int flags;
  int trigger_at_block_start;
};
template <class Value>
Value attribute_value(const LaunchAttribute& attribute) {
  Value value;
  std::memcpy(&value, attribute.value.bytes, sizeof value);
  return value;
}

/// Applies a launch attribute. Accepts those that in-order streams satisfy anyway.
void apply(ContextState& context, const LaunchAttribute& attribute, LaunchOptions& options,
           std::vector<LaunchEvent>& events) {
  switch (attribute.id) {
    case LaunchAttributeId::cooperative:
      options.cooperative = attribute.value.cooperative != 0;
      return;
    case LaunchAttributeId::cluster_dimension: {
      const auto& cluster = attribute.value.cluster_dimension;
      options.cluster = {cluster.x, cluster.y, cluster.z};
      return;
    }
    case LaunchAttributeId::programmatic_stream_serialization:
      options.starts_early = attribute.value.programmatic_stream_serialization != 0;
      if (options.starts_early) process().order.raise(ProgramOrder::Level::all);
      return;
    case LaunchAttributeId::programmatic_event: {
      const auto value = attribute_value<ProgrammaticEvent>(attribute);
      const bool at_start = value.trigger_at_block_start != 0;
      events.push_back(launch_event(context, value.event,
                                    at_start ? GraphEdge::Port::start : GraphEdge::Port::trigger));
      return;
    }
    case LaunchAttributeId::launch_completion_event:
      events.push_back(
          launch_event(context, attribute_value<Event>(attribute), GraphEdge::Port::start));
      return;
    case LaunchAttributeId::device_updatable_kernel_node:
      fail(Result::not_supported,
           fmt::format("launch attribute {} is not supported", static_cast<int>(attribute.id)));
    default: return;
  }
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

/// The arguments of a dispatch, until its launch has ended.
class Arguments {
 public:
  using Argument = Dispatch::Argument;

  Arguments(ContextState& context, const Dispatch& asked, Launch& launch)
      : memory_(context.memory), asked_(asked), launch_(launch) {
    for (const Argument& each : asked.arguments) {
      if (each.kind == Argument::Kind::value) store(each, each.bytes.data(), each.bytes.size());
      if (each.kind == Argument::Kind::constant) add_constant(each);
    }
  }
  ~Arguments() {
    for (const std::uint64_t address : constants_) {
      memory_.free(address);
      process().order.forget(address);
    }
  }
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;

  /// Reads parameters and an indirect grid from memory, as accesses of the running operation.
  void load() {
    process().order.describe("kernel", kernel().name);
    for (const Argument& each : asked_.arguments) {
      if (each.kind != Argument::Kind::loaded) continue;
      read(at(each), each.address, kernel().parameters.at(each.parameter).bytes);
    }
    if (asked_.indirect == 0) return;
    Dim3& grid = launch_.options.grid;
    read(&grid, asked_.indirect, sizeof grid);
  }

 private:
  const KernelInfo& kernel() const { return info(*launch_.function->kernel); }
  void read(void* to, std::uint64_t address, std::size_t bytes) {
    if (!memory_.read(to, address, bytes)) {
      fail(Result::illegal_address, fmt::format("{}: reads {} bytes at {}", kernel().name, bytes,
                                                memory_.describe(address)));
    }
    process().order.access(memory_, address, bytes, Touch::read);
  }
  std::byte* at(const Argument& argument) {
    return launch_.parameters.data() + kernel().parameters.at(argument.parameter).offset;
  }
  void store(const Argument& argument, const void* from, std::size_t bytes) {
    std::memcpy(at(argument), from,
                std::min(bytes, kernel().parameters.at(argument.parameter).bytes));
  }
  void add_constant(const Argument& argument) {
    const std::size_t bytes = argument.bytes.size();
    const std::uint64_t address = memory_.allocate(std::max<std::size_t>(1, bytes), argument.name);
    constants_.push_back(address);
    memory_.write(address, argument.bytes.data(), bytes);
    store(argument, &address, sizeof address);
  }

  DeviceMemory& memory_;
  const Dispatch& asked_;
  Launch& launch_;
  std::vector<std::uint64_t> constants_;
};

void dispatch(ContextState& context, const Dispatch& asked) {
  Launch launch;
  launch.function = find_function(context, asked.function);
  launch.module = launch.function->module.lock();
  launch.options.grid = asked.grid;
  launch.options.block = asked.block;
  launch.options.grid_threads = asked.grid_threads;
  launch.options.dynamic_shared = asked.dynamic_shared;
  launch.parameters.resize(info(*launch.function->kernel).parameter_bytes);
  for (const Dispatch::Variable& each : asked.variables) {
    const auto variable = launch.module->module->global(each.name);
    if (variable) context.memory.write(variable->address, each.bytes.data(), each.bytes.size());
  }
  Arguments arguments(context, asked, launch);
  enqueue(context, asked.stream, [&](ContextState& running) {
    arguments.load();
    if (launch.options.grid.count() == 0) return;
    check(*launch.function, launch.options, launch.parameters);
    run(running, launch);
  });
  if (context.sticky == Result::success) return;
  fail(std::exchange(context.sticky, Result::success), context.sticky_message);
}

}  // namespace

Result cuLaunchKernel(Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                      unsigned block_x, unsigned block_y, unsigned block_z,
                      unsigned dynamic_shared_bytes, Stream stream, void** parameters,
                      void** extra) {
  return call_context([&](ContextState& context) {
    LaunchOptions options;
    options.grid = {grid_x, grid_y, grid_z};
    options.block = {block_x, block_y, block_z};
    options.dynamic_shared = dynamic_shared_bytes;
    launch(context, function, options, stream, parameters, extra);
  });
}

Result cuLaunchKernelEx(const LaunchConfig* config, Function function, void** parameters,
                        void** extra) {
  return call_context([&](ContextState& context) {
    require_pointer(config);
    LaunchOptions options;
    options.grid = {config->grid_x, config->grid_y, config->grid_z};
    options.block = {config->block_x, config->block_y, config->block_z};
    options.dynamic_shared = config->dynamic_shared_bytes;
    require(config->attribute_count == 0 || config->attributes != nullptr, Result::invalid_value,
            "the attributes are null");
    std::vector<LaunchEvent> events;
    for (const LaunchAttribute& attribute :
         std::span(config->attributes, config->attribute_count)) {
      apply(context, attribute, options, events);
    }
    launch(context, function, options, config->stream, parameters, extra, events);
  });
}

Result cuLaunchCooperativeKernel(Function function, unsigned grid_x, unsigned grid_y,
                                 unsigned grid_z, unsigned block_x, unsigned block_y,
                                 unsigned block_z, unsigned dynamic_shared_bytes, Stream stream,
                                 void** parameters) {
  return call_context([&](ContextState& context) {
    LaunchOptions options;
    options.grid = {grid_x, grid_y, grid_z};
    options.block = {block_x, block_y, block_z};
    options.dynamic_shared = dynamic_shared_bytes;
    options.cooperative = true;
    launch(context, function, options, stream, parameters, nullptr);
  });
}

}  // namespace rung::vgpu::driver

namespace rung::vgpu {

cuda::Result dispatch(const Dispatch& asked) {
  return driver::call_context(
      [&](driver::ContextState& context) { driver::dispatch(context, asked); });
}

std::optional<RunningLaunch> running_launch() { return driver::Running::get(); }

}  // namespace rung::vgpu
