// Events: markers in stream order. An event's time is the host's time at the call that records it,
// so the time between two events is the run time of the simulation and of the program itself.

#include "vgpu/driver/call.hpp"
#include "vgpu/driver/calls.hpp"

namespace rung::vgpu::driver {
namespace {

/// Fails for an event recorded in a capture, which has no time during the capture or after it.
void require_not_captured(const EventState& event) {
  if (!event.captured) return;
  const auto capture = event.capture.lock();
  require(capture != nullptr, Result::invalid_value, "the event was recorded in a capture");
  capture->invalidated = true;
  fail(Result::captured_event, "the event was recorded in the capture that is under way");
}

void wait_for(const EventState& event, bool prints = false) {
  if (event.pending) process().pending.run(*event.pending);
  if (prints) flush_printed(current_context_even_if_faulty());
  current_context();  // fails after a fault
  process().order.synchronize(event.order->all);
}

const EventState& timed(ContextState& context, Event handle) {
  const EventState& event = *find_event(context, handle);
  require_not_captured(event);
  require((event.flags & cuda::event_disable_timing) == 0, Result::invalid_handle,
          "the event was created without timing");
  require(event.recorded, Result::invalid_handle, "the event has not been recorded");
  return event;
}

}  // namespace

Result cuEventCreate(Event* event, unsigned flags) {
  return call_context([&](ContextState& context) {
    require_pointer(event);
    const unsigned known =
        cuda::event_blocking_sync | cuda::event_disable_timing | cuda::event_interprocess;
    const bool interprocess = (flags & cuda::event_interprocess) != 0;
    const bool untimed = (flags & cuda::event_disable_timing) != 0;
    require((flags & ~known) == 0 && (!interprocess || untimed), Result::invalid_value,
            "not flags of an event");
    auto state = std::make_shared<EventState>();
    state->flags = flags;
    *event = context.events.add(std::move(state));
  });
}

Result cuEventRecord(Event event, Stream stream) {
  return call_context([&](ContextState& context) {
    const auto state = find_event(context, event);
    const StreamState& recording = find_stream(context, stream);
    if (recording.capture != nullptr) {
      require(!recording.capture->invalidated, Result::stream_capture_invalidated);
      state->captured = true;
      state->capture = recording.capture;
      state->clock = recording.capture->clocks[recording.id];
      state->launch.reset();
      return;
    }
    const auto order = std::make_shared<EventOrder>();
    state->pending = defer(context, stream, [state, order](ContextState&) {
      *order = process().order.recorded();
      state->time = std::chrono::steady_clock::now();
    });
    state->captured = false;
    state->recorded = true;
    state->order = order;
  });
}

Result cuEventQuery(Event event) {
  let_other_threads_go_first_if_ordered();
  return call_context([&](ContextState& context) {
    const auto state = find_event(context, event);
    require_not_captured(*state);
    refuse_in_capture(context, true);
    wait_for(*state);
  });
}

Result cuEventSynchronize(Event event) {
  let_other_threads_go_first_if_ordered();
  return call_driver([&] {
    ContextState& context = current_context_even_if_faulty();
    const auto state = find_event(context, event);
    require_not_captured(*state);
    refuse_in_capture(context, true);
    wait_for(*state, true);
  });
}

Result cuEventElapsedTime(float* milliseconds, Event begin, Event end) {
  return call_context([&](ContextState& context) {
    require_pointer(milliseconds);
    const EventState& first = timed(context, begin);
    const EventState& last = timed(context, end);
    wait_for(first);  // the call succeeds once the events have happened
    wait_for(last);
    const auto time = last.time - first.time;
    *milliseconds = std::chrono::duration<float, std::milli>(time).count();
  });
}

Result cuEventDestroy(Event event) {
  return call_context([&](ContextState& context) {
    find_event(context, event);
    context.events.remove(event);
  });
}

}  // namespace rung::vgpu::driver

namespace rung::vgpu {

cuda::Result record_external(cuda::Event event, cuda::Stream stream) {
  using namespace driver;
  return call_context([&](ContextState& context) {
    if (find_stream(context, stream).capture == nullptr) {
      require(cuEventRecord(event, stream) == Result::success, Result::invalid_handle);
      return;
    }
    defer(context, stream, [state = find_event(context, event)](ContextState&) {
      state->order = std::make_shared<EventOrder>(process().order.recorded());
      state->time = std::chrono::steady_clock::now();
      state->pending.reset();
      state->captured = false;
      state->recorded = true;
    });
  });
}

}  // namespace rung::vgpu
