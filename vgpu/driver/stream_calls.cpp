// Streams are always idle, because work completes before the call that enqueues it returns.

#include <algorithm>

#include "vgpu/driver/call.hpp"
#include "vgpu/driver/calls.hpp"

namespace rung::vgpu::driver {
namespace {

void create(Stream* stream, unsigned flags, int priority) {
  ContextState& context = current_context();
  require_pointer(stream);
  require((flags & ~cuda::stream_non_blocking) == 0, Result::invalid_value,
          "not flags of a stream");
  auto state = std::make_shared<StreamState>();
  state->flags = flags;
  state->priority = std::clamp(priority, greatest_priority, least_priority);
  process().order.raise(ProgramOrder::Level::all);
  process().order.reports().name_stream(state->id);
  *stream = context.streams.add(std::move(state));
}

void wait_for(Stream handle, bool prints) {
  ContextState& running = current_context_even_if_faulty();
  process().pending.run(running, find_stream(running, handle));
  if (prints) flush_printed(running);
  ContextState& context = current_context();
  process().order.synchronize(context, find_stream(context, handle));
}

/// Fails if the stream is capturing, or if another stream captures in a mode that forbids waiting
/// for or querying a stream.
void require_not_capturing(ContextState& context, Stream handle) {
  const StreamState& stream = find_stream(context, handle);
  if (stream.capture != nullptr) {
    stream.capture->invalidated = true;
    fail(Result::stream_capture_unsupported, "the stream is capturing");
  }
  refuse_in_capture(context, true);
}

}  // namespace

Result cuStreamCreate(Stream* stream, unsigned flags) {
  return call_driver([&] { create(stream, flags, 0); });
}

Result cuStreamCreateWithPriority(Stream* stream, unsigned flags, int priority) {
  return call_driver([&] { create(stream, flags, priority); });
}

Result cuStreamDestroy(Stream stream) {
  return call_context([&](ContextState& context) {
    const auto state = context.streams.find(stream);
    require(state != nullptr, Result::invalid_handle, "not a stream of this context");
    // The capture keeps the work of a stream that only joined it.
    if (state->capture != nullptr && state->capture->origin == state.get()) {
      end_capture(context, *state->capture);
    }
    process().pending.run_all();
    process().order.destroy(*state);
    context.streams.remove(stream);
  });
}

Result cuStreamSynchronize(Stream stream) {
  let_other_threads_go_first_if_ordered();
  return call_driver([&] {
    require_not_capturing(current_context_even_if_faulty(), stream);
    wait_for(stream, true);
  });
}

/// The answer tells the program that the stream's work is done.
Result cuStreamQuery(Stream stream) {
  let_other_threads_go_first_if_ordered();
  return call_context([&](ContextState& context) {
    require_not_capturing(context, stream);
    wait_for(stream, false);
  });
}

Result cuStreamGetFlags(Stream stream, unsigned* flags) {
  return call_context([&](ContextState& context) {
    require_pointer(flags);
    *flags = find_stream(context, stream).flags;
  });
}

Result cuStreamGetPriority(Stream stream, int* priority) {
  return call_context([&](ContextState& context) {
    require_pointer(priority);
    *priority = find_stream(context, stream).priority;
  });
}

Result cuStreamGetId(Stream stream, unsigned long long* id) {
  return call_context([&](ContextState& context) {
    require_pointer(id);
    const StreamState& state = find_stream(context, stream);
    if (state.capture != nullptr) {
      state.capture->invalidated = true;
      fail(Result::stream_capture_unsupported, "the stream is capturing");
    }
    *id = state.id;
  });
}

/// The work before the event is already done: the dependency matters for captures and for the order
/// of operations.
Result cuStreamWaitEvent(Stream stream, Event event, unsigned flags) {
  return call_context([&](ContextState& context) {
    require(flags <= cuda::event_wait_external, Result::invalid_value,
            "not flags of cuStreamWaitEvent");
    StreamState& waiting = find_stream(context, stream);
    const auto state = find_event(context, event);
    if (!state->captured) {
      if (!state->recorded && flags != cuda::event_wait_external) return;
      if (waiting.capture == nullptr || flags == cuda::event_wait_external) {
        const auto order = flags == cuda::event_wait_external ? nullptr : state->order;
        defer(
            context, stream,
            [state, order](ContextState&) {
              process().order.wait_for(order == nullptr ? *state->order : *order);
            },
            state->pending);
        return;
      }
      waiting.capture->invalidated = true;
      fail(Result::stream_capture_isolation, "the event was recorded outside of the capture");
    }
    const auto capture = state->capture.lock();
    require(capture != nullptr, Result::invalid_value, "the event's capture has ended");
    require(waiting.capture == nullptr || waiting.capture == capture, Result::stream_capture_merge);
    waiting.capture = capture;
    capture->join(waiting.id, state->clock);
    if (state->launch) capture->launches[waiting.id].push_back(*state->launch);
  });
}

/// The function runs at once, unless the order of operations is checked (PendingOperations). As on a GPU,
/// it must not call the driver.
Result cuLaunchHostFunc(Stream stream, HostFunction function, void* user_data) {
  return call_context([&](ContextState& context) {
    require(function != nullptr, Result::invalid_value, "the function is null");
    const Operation operation = [=](ContextState& running) {
      flush_printed(running);
      process().order.describe("host function");
      // The host may learn from the function that the work before it is done.
      process().order.let_host_wait();
      process().order.run_on_host(running, [&] { function(user_data); });
    };
    PendingOperations& pending = process().pending;
    StreamState& state = find_stream(context, stream);
    const bool waits = process().order.records_all_memory() && !pending.is_on() &&
                       !pending.is_running() && state.capture == nullptr &&
                       capture_that_blocks(context, stream) == nullptr;
    if (waits) return pending.add_host_function(context, state, operation);
    enqueue(context, stream, operation);
    if (state.capture != nullptr) state.capture->operations.back().is_host_function = true;
  });
}

}  // namespace rung::vgpu::driver
