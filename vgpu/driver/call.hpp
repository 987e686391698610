#pragma once
// Common to all calls of the virtual driver: locking, access to process and context state, and
// error handling.

#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "vgpu/driver/host_threads.hpp"
#include "vgpu/driver/state.hpp"

namespace rung::vgpu::driver {

using cuda::Context;
using cuda::Device;
using cuda::DevicePointer;
using cuda::Event;
using cuda::Function;
using cuda::Graph;
using cuda::GraphExec;
using cuda::Result;
using cuda::Stream;

/// Ends a call. The message is returned by virtual_driver_message().
struct Failure {
  Result result;
  std::string message;
};

[[noreturn]] inline void fail(Result result, std::string message = {}) {
  throw Failure{result, std::move(message)};
}

/// Fails the call unless `holds` is true.
inline void require(bool holds, Result result, const char* message = "") {
  if (!holds) fail(result, message);
}
template <class T>
void require_pointer(const T* pointer) {
  require(pointer != nullptr, Result::invalid_value, "a pointer for a result is null");
}
void require_device(Device device);

/// The calling thread's context. Fails if no context is current, or if it was destroyed; ignores a
/// sticky error.
ContextState& current_context_even_if_faulty();
/// Like current_context_even_if_faulty(), but also fails on a sticky error.
ContextState& current_context();

/// Sets `last_message` and returns the Result of the current exception.
Result result_of_exception();

/// Runs the body of a call without preconditions.
template <class Body>
Result call_always(const Body& body) {
  const ThreadInCall in_call;
  const std::lock_guard lock(process().mutex);
  try {
    body();
    return Result::success;
  } catch (...) {
    return result_of_exception();
  }
}

/// Fails a call made after fork(): a child of a process that has called cuInit cannot use the
/// driver.
Result refuse_in_child();

/// Runs the body of a call that needs cuInit.
template <class Body>
Result call_driver(const Body& body) {
  // Checked before locking: a thread of the parent may have held the lock during fork().
  if (is_forked_child()) return refuse_in_child();
  return call_always([&] {
    require(process().initialised, Result::not_initialized, "cuInit has not been called");
    body();
  });
}

/// Call it before a call by which the host waits for operations takes the lock (host_threads.hpp).
inline void let_other_threads_go_first_if_ordered() {
  if (process().order.records_all_memory()) let_other_threads_go_first();
}

/// Runs body(ContextState&) of a call that requires a working context.
template <class Body>
Result call_context(const Body& body) {
  return call_driver([&] {
    // Keeps the context alive if an observer destroys it.
    ContextState& context = current_context();
    const std::shared_ptr<ContextState> keep = process().contexts.at(context.handle);
    body(context);
  });
}

// Return the object of a handle in this context, or fail the call if there is no such object.
StreamState& find_stream(ContextState& context, Stream stream);
std::shared_ptr<EventState> find_event(ContextState& context, Event event);
std::shared_ptr<ModuleState> find_module(ContextState& context, cuda::Module module);
std::shared_ptr<FunctionState> find_function(ContextState& context, Function function);

/// Runs the operation now, or records it if the stream is capturing. Fails for an operation on the
/// legacy stream if it would have to wait for a capturing stream.
void enqueue(ContextState& context, Stream stream, Operation operation);
/// Like enqueue(), but holds the operation back under a schedule: its arguments have been checked, and it
/// accesses no memory of the host. `other`: an operation that it waits for. Returns its number if it
/// was held back.
std::optional<PendingOperations::Number> defer(ContextState& context, Stream stream,
                                               Operation operation,
                                               std::optional<PendingOperations::Number> other = {});

/// Passes the contents of memory that is about to be freed to the memory observer.
void observe_final(const ContextState& context, std::uint64_t address);

/// The capture that work on the legacy stream would have to wait for, or null. Always null for
/// other streams.
std::shared_ptr<Capture> capture_that_blocks(ContextState& context, Stream stream);
[[noreturn]] void fail_implicit();

/// Invalidates all captures of this context and fails the call, if any stream captures. For calls
/// that are not allowed during a capture: cuCtxSynchronize, synchronous copies, and cuMemAlloc
/// (`unsafe`: allowed in relaxed captures).
void refuse_in_capture(ContextState& context, bool unsafe);

/// Ends the capture for the streams that take part in it.
void end_capture(ContextState& context, const Capture& capture);

}  // namespace rung::vgpu::driver
