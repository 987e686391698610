// Stream capture, and the graphs made by it.

#include "vgpu/driver/call.hpp"
#include "vgpu/driver/calls.hpp"

namespace rung::vgpu::driver {
namespace {

std::shared_ptr<GraphState> find_exec(ContextState& context, GraphExec exec) {
  auto found = context.graph_execs.find(exec);
  require(found != nullptr, Result::invalid_handle, "not an executable graph of this context");
  return found;
}

}  // namespace

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
    capture->mode = mode;
    capture->thread = std::this_thread::get_id();
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
    require(capture->mode == CaptureMode::relaxed || capture->thread == std::this_thread::get_id(),
            Result::stream_capture_wrong_thread);
    require(!capture->invalidated, Result::stream_capture_invalidated);
    require(capture->all_joined(), Result::stream_capture_unjoined);
    *graph = context.graphs.add(
        std::make_shared<GraphState>(GraphState{std::move(capture->operations)}));
  });
}

Result cuStreamIsCapturing(Stream stream, CaptureStatus* status) {
  return call_context([&](ContextState& context) {
    require_pointer(status);
    const auto& capture = find_stream(context, stream).capture;
    *status = capture == nullptr     ? CaptureStatus::none
              : capture->invalidated ? CaptureStatus::invalidated
                                     : CaptureStatus::active;
  });
}

Result cuGraphInstantiate(GraphExec* exec, Graph graph, unsigned long long flags) {
  return call_context([&](ContextState& context) {
    require_pointer(exec);
    // Bits for graph memory, upload, device launch and node priority; the first two and the last
    // have no effect here.
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
    enqueue(context, stream, [graph = find_exec(context, exec)](ContextState& running) {
      for (const Operation& operation : graph->operations) {
        if (running.sticky == Result::success) operation(running);
      }
    });
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

}  // namespace rung::vgpu::driver
