// Stream capture, and the graphs that it creates.

#include <algorithm>
#include <cstring>

#include "vgpu/driver/call.hpp"
#include "vgpu/driver/calls.hpp"
#include "vgpu/driver/graph_launch.hpp"
#include "vgpu/memory/written_bytes.hpp"

namespace rung::vgpu::driver {
namespace {

CaptureStatus status_of(const Capture* capture) {
  if (capture == nullptr) return CaptureStatus::none;
  return capture->invalidated ? CaptureStatus::invalidated : CaptureStatus::active;
}

/// The order of a graph, but with functions of the host as late as its edges allow: their accesses to memory
/// are compared with those of operations that have run before.
std::vector<std::size_t> functions_last(const GraphState& graph) {
  std::vector<std::size_t> order, functions;
  std::vector<bool> has_run(graph.operations.size(), false);
  const auto run = [&](std::size_t i) {
    order.push_back(i);
    has_run[i] = true;
  };
  // All operations before `i` have run, or are held back in `functions`.
  const auto run_functions_before = [&](const auto& self, std::size_t i) -> void {
    for (const std::size_t other : graph.operations[i].after) {
      if (has_run[other]) continue;
      self(self, other);
      run(other);
    }
  };
  for (std::size_t i = 0; i < graph.operations.size(); ++i) {
    if (graph.operations[i].is_host_function) {
      functions.push_back(i);
    } else {
      run_functions_before(run_functions_before, i);
      run(i);
    }
  }
  for (const std::size_t i : functions) {
    if (!has_run[i]) run(i);
  }
  return order;
}

/// The order in which the operations run; a random one under a schedule.
std::vector<std::size_t> order_of(const GraphState& graph) {
  if (Schedule* const schedule = process().pending.schedule()) {
    std::vector<std::vector<std::size_t>> after;
    for (const CapturedOperation& operation : graph.operations) after.push_back(operation.after);
    return random_order(after, *schedule);
  }
  return functions_last(graph);
}

/// Gives a condition its value, as an access of the running operation.
void start_condition(ContextState& context, const NodeGraph::Start& start) {
  Allocation* const memory = context.memory.find(start.condition);
  if (memory == nullptr) return;
  process().order.access(context.memory, start.condition, condition_bytes, Touch::write);
  if (start.value) {
    context.memory.write(start.condition, &*start.value, condition_bytes);
  } else {
    std::memset(memory->shadow(start.condition), 0, condition_bytes);
    memory->all_initialised = false;
    forget_lines(*memory, start.condition, condition_bytes);
  }
}

std::shared_ptr<UserObjectState> find_user_object(UserObject object) {
  auto found = process().user_objects.find(object);
  require(found != nullptr, Result::invalid_value, "not a user object");
  return found;
}

}  // namespace

std::shared_ptr<GraphState> find_exec(ContextState& context, GraphExec exec) {
  auto found = context.graph_execs.find(exec);
  require(found != nullptr, Result::invalid_handle, "not an executable graph of this context");
  return found;
}

void replay(ContextState& context, GraphState& graph) {
  ProgramOrder& order = process().order;
  order.describe("graph");
  order.start_after(graph.launched);
  for (const NodeGraph::Start& start : graph.starts) start_condition(context, start);
  if (std::ranges::count_if(graph.operations, &CapturedOperation::is_host_function) > 1) {
    order.compare_functions();
  }
  std::vector<OperationEnd> ends(graph.operations.size());
  for (const std::size_t i : order_of(graph)) {
    if (context.sticky != Result::success) return;
    const CapturedOperation& operation = graph.operations[i];
    std::vector<const OperationEnd*> after;
    for (const std::size_t other : operation.after) after.push_back(&ends[other]);
    std::vector<PreviousOperation> previous;
    for (const GraphEdge& edge : operation.programmatic) {
      previous.push_back({&ends[edge.node], edge.port});
    }
    if (previous.empty() && operation.previous) previous.push_back({&ends[*operation.previous]});
    process().starts_early = !operation.programmatic.empty();
    order.operate_node(after, previous, operation.site, ends[i], [&] { operation.run(context); });
    process().starts_early = false;
  }
  graph.launched = order.reached();
}

void end_capture(ContextState& context, const Capture& capture) {
  const auto leave = [&](StreamState& stream) {
    if (stream.capture.get() == &capture) stream.capture = nullptr;
  };
  std::erase_if(context.captures, [&](const std::weak_ptr<Capture>& weak) {
    const auto other = weak.lock();
    return other == nullptr || other.get() == &capture;
  });
  for (auto& [id, stream] : context.per_thread_streams) leave(stream);
  for (const auto& [handle, stream] : context.streams) leave(*stream);
}

Result cuStreamBeginCapture(Stream stream, CaptureMode mode) {
  return call_context([&](ContextState& context) {
    require(mode >= CaptureMode::global && mode <= CaptureMode::relaxed, Result::invalid_value,
            "not a capture mode");
    StreamState& origin = find_stream(context, stream);
    require(&origin != &context.legacy_stream, Result::stream_capture_unsupported,
            "the legacy default stream cannot be captured");
    require(origin.capture == nullptr, Result::illegal_state, "the stream is capturing already");
    auto capture = std::make_shared<Capture>();
    capture->origin = &origin;
    capture->origin_id = origin.id;
    capture->mode = mode;
    capture->thread = std::this_thread::get_id();
    capture->id = next_handle();
    capture->graph = std::make_shared<GraphState>();
    context.captures.push_back(capture);
    origin.capture = std::move(capture);
  });
}

Result cuStreamEndCapture(Stream stream, Graph* graph) {
  return call_context([&](ContextState& context) {
    require_pointer(graph);
    *graph = nullptr;
    const StreamState& ending = find_stream(context, stream);
    const std::shared_ptr<Capture> capture = ending.capture;
    require(capture != nullptr, Result::illegal_state, "the stream is not capturing");
    if (capture->origin != &ending) {
      capture->invalidated = true;
      fail(Result::stream_capture_unmatched);
    }
    end_capture(context, *capture);
    if (capture->handle != nullptr) context.graphs.remove(capture->handle);
    require(capture->mode == CaptureMode::relaxed || capture->thread == std::this_thread::get_id(),
            Result::stream_capture_wrong_thread);
    require(!capture->invalidated, Result::stream_capture_invalidated);
    require(capture->all_joined(), Result::stream_capture_unjoined);
    capture->graph->operations = std::move(capture->operations);
    if (capture->handle == nullptr) {
      *graph = context.graphs.add(capture->graph);
    } else {
      context.graphs.put(capture->handle, capture->graph);
      *graph = capture->handle;
    }
  });
}

/// Returns no dependencies: they would be nodes of the graph, and graphs here have none.
Result cuStreamGetCaptureInfo(Stream stream, CaptureStatus* status, std::uint64_t* id, Graph* graph,
                              const GraphNode** dependencies, std::size_t* count) {
  return call_context([&](ContextState& context) {
    require_pointer(status);
    require(dependencies == nullptr && count == nullptr, Result::not_supported,
            "dependencies of a capture are not given here");
    if (capture_that_blocks(context, stream) != nullptr) fail_implicit();
    const std::shared_ptr<Capture> capture = find_stream(context, stream).capture;
    *status = status_of(capture.get());
    if (*status != CaptureStatus::active) return;
    if (id != nullptr) *id = capture->id;
    if (graph == nullptr) return;
    if (capture->handle == nullptr) capture->handle = context.graphs.add(capture->graph);
    *graph = capture->handle;
  });
}

Result cuThreadExchangeStreamCaptureMode(CaptureMode* mode) {
  return call_driver([&] {
    require_pointer(mode);
    require(*mode >= CaptureMode::global && *mode <= CaptureMode::relaxed, Result::invalid_value,
            "not a capture mode");
    std::swap(*mode, capture_mode());
  });
}

Result cuStreamIsCapturing(Stream stream, CaptureStatus* status) {
  return call_context([&](ContextState& context) {
    require_pointer(status);
    if (capture_that_blocks(context, stream) != nullptr) fail_implicit();
    *status = status_of(find_stream(context, stream).capture.get());
  });
}

Result cuGraphInstantiate(GraphExec* exec, Graph graph, unsigned long long flags) {
  return call_context([&](ContextState& context) {
    require_pointer(exec);
    // The flags are auto-free, upload, device launch and node priority. Device launch is not
    // supported; the others have no effect here.
    constexpr unsigned long long device_launch = 4;
    require(flags < 16 && (flags & device_launch) == 0, Result::invalid_value,
            "not flags that a graph can be instantiated with here");
    const auto state = context.graphs.find(graph);
    require(state != nullptr, Result::invalid_value, "not a graph of this context");
    *exec = context.graph_execs.add(std::make_shared<GraphState>(*state));
  });
}

Result cuGraphLaunch(GraphExec exec, Stream stream) {
  return call_context([&](ContextState& context) {
    enqueue(context, stream,
            [graph = find_exec(context, exec)](ContextState& running) { replay(running, *graph); });
  });
}

Result cuGraphExecDestroy(GraphExec exec) {
  return call_context([&](ContextState& context) {
    find_exec(context, exec);
    context.graph_execs.remove(exec);
  });
}

Result cuGraphDestroy(Graph graph) {
  return call_context([&](ContextState& context) {
    require(context.graphs.remove(graph), Result::invalid_value, "not a graph of this context");
  });
}

Result cuUserObjectCreate(UserObject* object, void* pointer, HostFunction destroy,
                          unsigned references, unsigned flags) {
  return call_driver([&] {
    require_pointer(object);
    require(destroy != nullptr && references != 0, Result::invalid_value,
            "a user object needs a destructor and a reference");
    require(flags == cuda::user_object_no_destructor_sync, Result::invalid_value,
            "flags must be CU_USER_OBJECT_NO_DESTRUCTOR_SYNC");
    require(references == 1, Result::not_supported, "more than one reference to a user object");
    *object = process().user_objects.add(std::make_shared<UserObjectState>(pointer, destroy));
  });
}

Result cuUserObjectRelease(UserObject object, unsigned count) {
  return call_driver([&] {
    const auto keep = find_user_object(object);
    require(count == 1, Result::invalid_value, "the caller has one reference");
    process().user_objects.remove(object);
  });
}

Result cuGraphRetainUserObject(Graph graph, UserObject object, unsigned count, unsigned flags) {
  return call_context([&](ContextState& context) {
    const auto state = context.graphs.find(graph);
    require(state != nullptr, Result::invalid_value, "not a graph of this context");
    const auto found = find_user_object(object);
    require(count == 1 && flags <= cuda::graph_user_object_move, Result::not_supported,
            "more than one reference to a user object");
    state->user_objects.push_back(found);
    if (flags == cuda::graph_user_object_move) process().user_objects.remove(object);
  });
}

}  // namespace rung::vgpu::driver
