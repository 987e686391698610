// Calls that launch kernels.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "vgpu/driver/call.hpp"
#include "vgpu/driver/calls.hpp"
#include "vgpu/driver/kernel_launch.hpp"

namespace rung::vgpu::driver {
namespace {

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
