#include "vgpu/driver/virtual_driver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "vgpu/driver/call.hpp"
#include "vgpu/driver/calls.hpp"
#include "vgpu/model/schedule.hpp"
#include "vgpu/schedule.hpp"

namespace rung::vgpu {

const cuda::DriverApi& virtual_driver() {
  static constexpr cuda::DriverApi table = {
#define RUNG_CUDA_ENTRY(member, symbol, ...) .member = driver::member,
      RUNG_CUDA_DRIVER_FUNCTIONS(RUNG_CUDA_ENTRY)
#undef RUNG_CUDA_ENTRY
  };
  return table;
}

void set_virtual_device(const DeviceDescription& device) {
  driver::Process& process = driver::process();
  const std::lock_guard lock(process.mutex);
  if (!process.contexts.empty()) {
    throw std::logic_error("the virtual device cannot change while it has a context");
  }
  process.device = device;
}

const DeviceDescription& virtual_device() { return driver::process().device; }

void set_launch_defaults(const LaunchDefaults& defaults) {
  driver::Process& process = driver::process();
  const std::lock_guard lock(process.mutex);
  process.defaults = defaults;
}

void set_schedule(std::uint64_t seed) {
  driver::Process& process = driver::process();
  const std::lock_guard lock(process.mutex);
  process.pending.run_all();
  process.pending.set_schedule(seed);
  set_launch_seed(seed);
}

void run_pending_operations() {
  driver::Process& process = driver::process();
  const std::lock_guard lock(process.mutex);
  process.pending.run_all();
}

std::vector<SkippedLaunches> skipped_launches() {
  using Left = SkippedLaunches::Left;
  driver::Process& process = driver::process();
  const std::lock_guard lock(process.mutex);
  std::vector<SkippedLaunches> skipped;
  for (const auto& [kernel, count] : process.launch_counts) {
    const std::uint64_t ran = std::min(count, process.defaults.launches_per_kernel);
    if (count > ran) skipped.push_back({kernel, ran, count - ran, Left::run});
  }
  for (const auto& [handle, context] : process.contexts) {
    for (const auto& [kernel, launches] : context->launch_memo.launches()) {
      const auto& [ran, repeated, unobserved] = launches;
      if (repeated > 0) skipped.push_back({kernel, ran, repeated, Left::repeated_run});
      if (unobserved > 0) {
        skipped.push_back({kernel, ran - unobserved, unobserved, Left::observation});
      }
    }
  }
  return skipped;
}

void set_launch_observer(LaunchObserver observer) {
  driver::Process& process = driver::process();
  const std::lock_guard lock(process.mutex);
  process.observer = std::move(observer);
}

void set_access_watcher(AccessWatcher watcher) {
  driver::Process& process = driver::process();
  const std::lock_guard lock(process.mutex);
  process.watcher = std::move(watcher);
}

AccessWatcher access_watcher() {
  driver::Process& process = driver::process();
  const std::lock_guard lock(process.mutex);
  return process.watcher;
}

void set_order_observer(OrderObserver observer, ProgramSource* source) {
  driver::Process& process = driver::process();
  const std::lock_guard lock(process.mutex);
  process.order.enable(std::move(observer), source);
}

void record_all_operations() {
  driver::Process& process = driver::process();
  const std::lock_guard lock(process.mutex);
  process.order.raise(driver::ProgramOrder::Level::all);
}

void set_print_sink(PrintSink sink) {
  driver::Process& process = driver::process();
  const std::lock_guard lock(process.mutex);
  process.sink = std::move(sink);
}

const std::string& virtual_driver_message() { return driver::last_message(); }

std::size_t graph_operations(cuda::Graph graph) {
  const std::lock_guard lock(driver::process().mutex);
  for (const auto& [handle, context] : driver::process().contexts) {
    if (const auto found = context->graphs.find(graph)) return found->operations.size();
  }
  return 0;
}

std::uint64_t allocation_number(std::uint64_t address) {
  const std::lock_guard lock(driver::process().mutex);
  if (driver::context_stack().empty()) return 0;
  const auto context = driver::process().contexts.find(driver::context_stack().back());
  if (context == driver::process().contexts.end()) return 0;
  const Allocation* allocation = std::as_const(context->second->memory).find(address);
  return allocation != nullptr && allocation->address == address ? allocation->serial : 0;
}

std::vector<Hazard> find_leaks() {
  std::vector<Hazard> leaks;
  const std::lock_guard lock(driver::process().mutex);
  const auto found = driver::context_stack().empty()
                         ? driver::process().contexts.end()
                         : driver::process().contexts.find(driver::context_stack().back());
  if (found == driver::process().contexts.end()) return leaks;
  for (const Allocation& allocation : found->second->memory.live()) {
    if (allocation.host) continue;
    Hazard& leak = leaks.emplace_back();
    leak.kind = HazardKind::leak;
    leak.address = found->second->memory.describe(allocation.address);
    leak.message = fmt::format("{}: {} was never freed", name(leak.kind), leak.address);
  }
  return leaks;
}

}  // namespace rung::vgpu
