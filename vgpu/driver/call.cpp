#include "vgpu/driver/call.hpp"

#include <fmt/format.h>

#include <atomic>
#include <exception>
#include <stdexcept>

namespace rung::vgpu::driver {
namespace {

std::atomic<bool> has_per_thread_default = false;

Stream named(Stream stream) {
  if (stream != nullptr) return stream;
  return has_per_thread_default ? cuda::per_thread_stream() : cuda::legacy_stream();
}

/// True if work on the legacy stream must wait for the capturing stream.
bool is_blocking(const Capture& capture, const StreamState& legacy) {
  return capture.origin != &legacy && (capture.origin->flags & cuda::stream_non_blocking) == 0;
}

[[noreturn]] void fail_sticky(const ContextState& context) {
  fail(context.sticky, context.sticky_message);
}

}  // namespace

void require_device(Device device) {
  if (device != 0) fail(Result::invalid_device, fmt::format("device {}: there is only 0", device));
}

ContextState& current_context_even_if_faulty() {
  const std::vector<Context>& stack = context_stack();
  require(!stack.empty() && stack.back() != nullptr, Result::invalid_context,
          "no context is current in this thread");
  const auto found = process().contexts.find(stack.back());
  require(found != process().contexts.end(), Result::context_is_destroyed,
          "the current context has been destroyed or reset");
  return *found->second;
}

ContextState& current_context() {
  ContextState& context = current_context_even_if_faulty();
  if (context.sticky != Result::success) fail_sticky(context);
  return context;
}

Result result_of_exception() {
  std::string& message = last_message();
  message.clear();
  try {
    throw;
  } catch (const Failure& failure) {
    message = failure.message;
    return failure.result;
  } catch (const std::bad_alloc&) {
    message = "not enough memory";
    return Result::out_of_memory;
  } catch (const std::invalid_argument& error) {
    message = error.what();
    return Result::invalid_value;
  } catch (const std::exception& error) {
    message = error.what();
    return Result::unknown;
  }
}

Result refuse_in_child() {
  last_message() = "the parent of this process has initialised the driver";
  return Result::not_initialized;
}

StreamState& find_stream(ContextState& context, Stream handle) {
  const Stream stream = named(handle);
  if (stream == cuda::legacy_stream()) return context.legacy_stream;
  if (stream == cuda::per_thread_stream()) {
    process().order.raise(ProgramOrder::Level::all);
    return context.per_thread_streams[thread_number()];
  }
  const auto found = context.streams.find(stream);
  require(found != nullptr, Result::invalid_handle, "not a stream of this context");
  return *found;
}

std::shared_ptr<EventState> find_event(ContextState& context, Event event) {
  auto found = context.events.find(event);
  require(found != nullptr, Result::invalid_handle, "not an event of this context");
  return found;
}

std::shared_ptr<ModuleState> find_module(ContextState& context, cuda::Module module) {
  auto found = context.modules.find(module);
  require(found != nullptr, Result::invalid_handle, "not a module of this context");
  return found;
}

std::shared_ptr<FunctionState> find_function(ContextState& context, Function function) {
  auto found = context.functions.find(function);
  require(found != nullptr, Result::invalid_handle, "not a function of this context");
  return found;
}

std::shared_ptr<Capture> capture_that_blocks(ContextState& context, Stream handle) {
  if (named(handle) != cuda::legacy_stream()) return nullptr;
  for (const auto& weak : context.captures) {
    auto capture = weak.lock();
    if (capture != nullptr && is_blocking(*capture, context.legacy_stream)) return capture;
  }
  return nullptr;
}

void fail_implicit() {
  fail(Result::stream_capture_implicit,
       "the legacy default stream waits for a stream that is capturing");
}

std::optional<PendingOperations::Number> defer(ContextState& context, Stream handle,
                                               Operation operation,
                                               std::optional<PendingOperations::Number> other) {
  StreamState& stream = find_stream(context, handle);
  if (stream.capture != nullptr) {
    require(!stream.capture->invalidated, Result::stream_capture_invalidated);
    stream.capture->record(stream.id, std::move(operation), process().order.reports().site());
    return {};
  }
  if (const auto capture = capture_that_blocks(context, handle)) {
    capture->invalidated = true;
    fail_implicit();
  }
  if (process().pending.is_on()) {
    return process().pending.add(context, stream, std::move(operation), other);
  }
  ProgramOrder& order = process().order;
  const ProgramOrder::Call call = order.call();
  process().pending.run(context, stream);  // functions of the host that precede it
  order.operate(context, stream, call, [&] { operation(context); });
  return {};
}

void enqueue(ContextState& context, Stream handle, Operation operation) {
  PendingOperations& pending = process().pending;
  if (!pending.is_on() || find_stream(context, handle).capture != nullptr) {
    defer(context, handle, std::move(operation));
    return;
  }
  std::exception_ptr failure;
  const auto number = defer(context, handle, [&](ContextState& running) {
    try {
      operation(running);
    } catch (...) {
      failure = std::current_exception();
    }
  });
  pending.run(*number);
  if (failure) std::rethrow_exception(failure);
  if (context.sticky != Result::success) fail_sticky(context);
}

void refuse_in_capture(ContextState& context, bool unsafe) {
  using cuda::CaptureMode;
  const CaptureMode own = capture_mode();
  for (const auto& weak : context.captures) {
    const auto capture = weak.lock();
    if (capture == nullptr) continue;
    const bool elsewhere = capture->thread != std::this_thread::get_id();
    const bool is_local =
        capture->mode == CaptureMode::thread_local_only || own == CaptureMode::thread_local_only;
    if (unsafe && (capture->mode == CaptureMode::relaxed || own == CaptureMode::relaxed)) continue;
    if (unsafe && is_local && elsewhere) continue;
    capture->invalidated = true;
    fail(Result::stream_capture_unsupported, "a stream of this context is capturing");
  }
}

}  // namespace rung::vgpu::driver

namespace rung::vgpu {

void use_per_thread_default_streams() { driver::has_per_thread_default = true; }

}  // namespace rung::vgpu
