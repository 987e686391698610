// Command queues, command buffers, events and fences.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "emu/metal_cpp/state.hpp"

namespace rung::emu::metal_cpp {

std::vector<QueueObject*>& queues() {
  static std::vector<QueueObject*>& queues = *new std::vector<QueueObject*>;
  return queues;
}
std::condition_variable_any& changes() {
  static std::condition_variable_any& changes = *new std::condition_variable_any;
  return changes;
}

EventState& state_of(const MTL::Event& event) {
  auto& object = const_cast<MTL::Event&>(event);
  if (auto* const shared = dynamic_cast<SharedEventObject*>(&object)) return shared->state;
  return static_cast<EventObject&>(object).state;
}

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void tell_listeners(MTL::Event& event) {
  auto* const shared = dynamic_cast<SharedEventObject*>(&event);
  if (shared == nullptr) return;
  const std::uint64_t value = shared->state.value;
  for (const auto& each : shared->listeners) {
    if (each.value > value) continue;
    run_later([keep = Ref<SharedEventObject>(shared), function = each.function, value,
               points = shared->state.signalled] {
      let_host_wait(points);
      function(keep.get(), value);
    });
  }
  std::erase_if(shared->listeners, [&](const auto& each) { return each.value <= value; });
}

/// Returns false if the event has not reached the value.
bool run_event(const EventCommand& command, QueueObject& queue, Points& before) {
  auto& event = dynamic_cast<MTL::Event&>(*command.event);
  EventState& state = state_of(event);
  if (command.signals) {
    state.value = std::max(state.value, command.value);
    append(before, queue.end);
    if (!before.empty()) before = {joined(before)};
    state.signalled = before;
    tell_listeners(event);
    return true;
  }
  if (state.value < command.value) return false;
  append(queue.waits, state.signalled);
  return true;
}

void complete(CommandBufferObject& buffer) {
  buffer.end_time = now();
  buffer.status =
      buffer.error_code == 0 ? MTL::CommandBufferStatusCompleted : MTL::CommandBufferStatusError;
  buffer.are_handlers_done = buffer.completed.empty();
  if (buffer.are_handlers_done) return;
  run_later([keep = Ref<CommandBufferObject>(&buffer)] {
    const Ref<CommandBufferObject>& own = keep;
    let_host_wait(own->end);
    for (const MTL::HandlerFunction& each : own->completed) each(own.get());
    const std::lock_guard lock(library_mutex());
    own->completed.clear();
    own->are_handlers_done = true;
    changes().notify_all();
  });
}

/// Runs commands of the buffer until it has to wait. True if it has completed.
bool run_buffer(CommandBufferObject& buffer, QueueObject& queue) {
  for (; buffer.done < buffer.commands.size(); ++buffer.done) {
    QueueCommand& command = buffer.commands[buffer.done];
    if (auto* const event = std::get_if<EventCommand>(&command)) {
      if (!run_event(*event, queue, buffer.end)) return false;
      continue;
    }
    Pass& pass = std::get<Pass>(command);
    if (buffer.error_code == 0) run_pass(pass, buffer, buffer.end);
  }
  append(queue.end, buffer.end);
  if (queue.end.size() > 1) queue.end = {joined(queue.end)};
  return true;
}

bool run_queue(QueueObject& queue) {
  bool any = false;
  while (!queue.pending.empty()) {
    const Ref<CommandBufferObject> first = queue.pending.front();
    const std::size_t before = first->done;
    const bool is_complete = run_buffer(*first, queue);
    any = any || is_complete || first->done != before;
    if (!is_complete) break;
    queue.pending.pop_front();
    complete(*first);
  }
  return any;
}

/// Waits until `holds`, without the lock in between. False after that number of milliseconds.
template <class Condition>
bool wait_until(std::unique_lock<std::recursive_mutex>& lock, std::uint64_t milliseconds,
                const Condition& holds) {
  return changes().wait_for(lock, std::chrono::milliseconds(milliseconds), holds);
}

bool is_done(const CommandBufferObject& buffer) {
  return buffer.status >= MTL::CommandBufferStatusCompleted;
}

/// A GPU's watchdog ends command buffers that wait for much longer than this.
constexpr std::uint64_t most_wait = 5000;

void give_up(CommandBufferObject& buffer) {
  const auto* const event = buffer.done < buffer.commands.size()
                                ? std::get_if<EventCommand>(&buffer.commands[buffer.done])
                                : nullptr;
  report_misuse(
      event == nullptr
          ? std::string("the command buffer waits for one before it, which never completes")
          : fmt::format(
                "the command buffer waits for value {} of an event that is at {}, and nothing "
                "signals it",
                event->value, state_of(dynamic_cast<MTL::Event&>(*event->event)).value));
  buffer.fail(MTL::CommandBufferErrorTimeout,
              "Caused GPU Timeout Error (00000002:kIOGPUCommandBufferCallbackErrorTimeout)");
  std::erase_if(buffer.queue->pending, [&](const auto& each) { return each.get() == &buffer; });
  complete(buffer);
}

thread_local bool is_handler_thread = false;

/// Runs handlers one after the other in a thread of their own, as Metal does.
class Handlers {
 public:
  void add(std::function<void()> function) {
    const std::lock_guard lock(mutex_);
    if (!is_running_) std::thread([this] { run(); }).detach();
    is_running_ = true;
    waiting_.push_back(std::move(function));
    added_.notify_one();
  }

 private:
  void run() {
    is_handler_thread = true;
    for (;;) {
      std::unique_lock lock(mutex_);
      added_.wait(lock, [this] { return !waiting_.empty(); });
      const std::function<void()> next = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      auto* const pool = NS::AutoreleasePool::alloc()->init();
      next();
      pool->release();
    }
  }

  std::mutex mutex_;
  std::condition_variable added_;
  std::deque<std::function<void()>> waiting_;
  bool is_running_ = false;
};

CommandBufferObject* new_command_buffer(QueueObject& queue) {
  auto* const buffer = named(new CommandBufferObject, "MTL::CommandBuffer");
  buffer->queue = &queue;
  return autoreleased(buffer);
}

/// Prepares a new encoder of the command buffer. False if it cannot have one.
bool start_encoder(CommandBufferObject& buffer, const NS::Object* encoder, EncoderState& state,
                   const char* what) {
  if (buffer.encoder != nullptr) {
    report_misuse("A command encoder is already encoding to this command buffer");
    return false;
  }
  if (buffer.status >= MTL::CommandBufferStatusCommitted) {
    report_misuse("a command encoder of a command buffer that is already committed");
    return false;
  }
  buffer.encoder = encoder;
  state.command_buffer = &buffer;
  state.pass.site = CallSite::here();
  state.pass.what = what;
  return true;
}

MTL::ComputeCommandEncoder* new_compute_encoder(CommandBufferObject& buffer, bool is_concurrent) {
  auto* const encoder = named(new ComputeEncoderObject, "MTL::ComputeCommandEncoder");
  encoder->state.pass.is_concurrent = is_concurrent;
  if (start_encoder(buffer, encoder, encoder->state, "compute encoder"))
    return autoreleased(encoder);
  encoder->state.is_ended = true;
  encoder->release();
  return nullptr;
}

void add_event(CommandBufferObject& buffer, const MTL::Event* event, std::uint64_t value,
               bool signals) {
  if (!is_usable(event)) return report_misuse("the event is nil");
  if (buffer.encoder != nullptr) {
    return report_misuse("an event is encoded while a command encoder is encoding");
  }
  buffer.commands.emplace_back(
      EventCommand{CallSite::here(), const_cast<MTL::Event*>(event), value, signals});
}

}  // namespace

void run_queues() {
  bool any = true;
  while (any) {
    any = false;
    for (QueueObject* const queue : std::vector<QueueObject*>(queues())) {
      any = run_queue(*queue) || any;
    }
  }
  changes().notify_all();
}

void run_later(std::function<void()> function) {
  static Handlers& handlers = *new Handlers;
  handlers.add(std::move(function));
}

void CommandBufferObject::fail(NS::Integer code, std::string text) {
  if (error_code != 0) return;
  error_code = code;
  error = std::move(text);
}

CommandBufferObject::~CommandBufferObject() = default;
QueueObject::QueueObject() { queues().push_back(this); }
QueueObject::~QueueObject() { std::erase(queues(), this); }

}  // namespace rung::emu::metal_cpp

namespace MTL {

using namespace rung::emu::metal_cpp;

CommandQueue* Device::newCommandQueue() {
  return ask<DeviceObject>(this, [](DeviceObject&) -> CommandQueue* {
    return named(new QueueObject, "MTL::CommandQueue");
  });
}
CommandQueue* Device::newCommandQueue(UInteger) { return newCommandQueue(); }
NS::String* CommandQueue::label() const {
  return ask<QueueObject>(
      this, [](const auto& own) -> NS::String* { return autoreleased(new_string(own.label)); });
}
void CommandQueue::setLabel(const NS::String* label) {
  ask<QueueObject>(this, [&](QueueObject& own) { own.label = text_of(label); });
}
Device* CommandQueue::device() const { return &rung::emu::metal_cpp::device(); }
CommandBuffer* CommandQueue::commandBuffer() {
  return ask<QueueObject>(
      this, [](QueueObject& own) -> CommandBuffer* { return new_command_buffer(own); });
}
CommandBuffer* CommandQueue::commandBuffer(const CommandBufferDescriptor*) {
  return commandBuffer();
}
CommandBuffer* CommandQueue::commandBufferWithUnretainedReferences() { return commandBuffer(); }

Device* CommandBuffer::device() const { return &rung::emu::metal_cpp::device(); }
CommandQueue* CommandBuffer::commandQueue() const {
  return ask<CommandBufferObject>(this,
                                  [](const auto& own) -> CommandQueue* { return own.queue.get(); });
}
NS::String* CommandBuffer::label() const {
  return ask<CommandBufferObject>(
      this, [](const auto& own) -> NS::String* { return autoreleased(new_string(own.label)); });
}
void CommandBuffer::setLabel(const NS::String* label) {
  ask<CommandBufferObject>(this, [&](auto& own) { own.label = text_of(label); });
}
ComputeCommandEncoder* CommandBuffer::computeCommandEncoder() {
  return computeCommandEncoder(DispatchTypeSerial);
}
ComputeCommandEncoder* CommandBuffer::computeCommandEncoder(DispatchType type) {
  return ask<CommandBufferObject>(this, [&](CommandBufferObject& own) {
    return new_compute_encoder(own, type == DispatchTypeConcurrent);
  });
}
ComputeCommandEncoder* CommandBuffer::computeCommandEncoder(
    const ComputePassDescriptor* descriptor) {
  return computeCommandEncoder(is_usable(descriptor) ? descriptor->dispatchType()
                                                     : DispatchTypeSerial);
}
BlitCommandEncoder* CommandBuffer::blitCommandEncoder() {
  return ask<CommandBufferObject>(this, [](CommandBufferObject& own) -> BlitCommandEncoder* {
    auto* const encoder = named(new BlitEncoderObject, "MTL::BlitCommandEncoder");
    if (start_encoder(own, encoder, encoder->state, "blit encoder")) return autoreleased(encoder);
    encoder->state.is_ended = true;
    encoder->release();
    return nullptr;
  });
}
BlitCommandEncoder* CommandBuffer::blitCommandEncoder(const BlitPassDescriptor*) {
  return blitCommandEncoder();
}
void CommandBuffer::enqueue() {
  ask<CommandBufferObject>(this, [](CommandBufferObject& own) {
    if (own.status != CommandBufferStatusNotEnqueued) {
      return report_misuse("enqueue of a command buffer that is already enqueued");
    }
    own.status = CommandBufferStatusEnqueued;
    own.queue->pending.emplace_back(&own);
  });
}
void CommandBuffer::commit() {
  ask<CommandBufferObject>(this, [](CommandBufferObject& own) {
    if (own.status >= CommandBufferStatusCommitted) {
      return report_misuse("commit an already committed command buffer");
    }
    if (own.encoder != nullptr) {
      report_misuse("commit command buffer with uncommitted encoder");
      own.fail(CommandBufferErrorInternal, "an encoder was not ended");
    }
    if (own.status == CommandBufferStatusNotEnqueued) own.queue->pending.emplace_back(&own);
    own.status = CommandBufferStatusCommitted;
    own.start_time = now();
    for (const HandlerFunction& each : own.scheduled) {
      run_later([keep = Ref<CommandBufferObject>(&own), each] { each(keep.get()); });
    }
    run_queues();
  });
}
void CommandBuffer::addScheduledHandler(const HandlerFunction& function) {
  ask<CommandBufferObject>(this, [&](auto& own) { own.scheduled.push_back(function); });
}
void CommandBuffer::addCompletedHandler(const HandlerFunction& function) {
  ask<CommandBufferObject>(this, [&](CommandBufferObject& own) {
    if (own.status >= CommandBufferStatusCommitted) {
      return report_misuse("addCompletedHandler of a command buffer that is already committed");
    }
    own.completed.push_back(function);
  });
}
void CommandBuffer::waitUntilScheduled() { is_usable(this); }
void CommandBuffer::waitUntilCompleted() {
  std::unique_lock lock(library_mutex());
  if (!is_usable(this)) return;
  const Ref<CommandBufferObject> own = static_cast<CommandBufferObject*>(this);
  if (own->status < CommandBufferStatusCommitted) {
    return report_misuse("waitUntilCompleted of a command buffer that is not committed");
  }
  if (!wait_until(lock, most_wait, [&] { return is_done(*own); })) give_up(*own);
  // Handlers have run when this returns, unless one of them waits.
  if (!is_handler_thread) changes().wait(lock, [&] { return own->are_handlers_done; });
  let_host_wait(own->end);
}
CommandBufferStatus CommandBuffer::status() const {
  return ask<CommandBufferObject>(this, [](const CommandBufferObject& own) {
    if (is_done(own)) let_host_wait(own.end);  // the answer tells the program so
    return own.status;
  });
}
NS::Error* CommandBuffer::error() const {
  return ask<CommandBufferObject>(this, [](const CommandBufferObject& own) -> NS::Error* {
    if (own.error_code == 0 || !is_done(own)) return nullptr;
    return autoreleased(new_error(command_buffer_domain, own.error_code, own.error));
  });
}
CFTimeInterval CommandBuffer::GPUStartTime() const {
  return ask<CommandBufferObject>(this, [](const auto& own) { return own.start_time; });
}
CFTimeInterval CommandBuffer::GPUEndTime() const {
  return ask<CommandBufferObject>(this, [](const auto& own) { return own.end_time; });
}
void CommandBuffer::encodeWait(const Event* event, std::uint64_t value) {
  ask<CommandBufferObject>(this, [&](auto& own) { add_event(own, event, value, false); });
}
void CommandBuffer::encodeSignalEvent(const Event* event, std::uint64_t value) {
  ask<CommandBufferObject>(this, [&](auto& own) { add_event(own, event, value, true); });
}

Fence* Device::newFence() {
  return ask<DeviceObject>(
      this, [](DeviceObject&) -> Fence* { return named(new FenceObject, "MTL::Fence"); });
}
Device* Fence::device() const { return &rung::emu::metal_cpp::device(); }
NS::String* Fence::label() const {
  return ask<FenceObject>(
      this, [](const auto& own) -> NS::String* { return autoreleased(new_string(own.label)); });
}
void Fence::setLabel(const NS::String* label) {
  ask<FenceObject>(this, [&](auto& own) { own.label = text_of(label); });
}

Event* Device::newEvent() {
  return ask<DeviceObject>(
      this, [](DeviceObject&) -> Event* { return named(new EventObject, "MTL::Event"); });
}
SharedEvent* Device::newSharedEvent() {
  return ask<DeviceObject>(this, [](DeviceObject&) -> SharedEvent* {
    return named(new SharedEventObject, "MTL::SharedEvent");
  });
}
Device* Event::device() const { return &rung::emu::metal_cpp::device(); }
NS::String* Event::label() const {
  return ask<Event>(this, [](const Event& own) -> NS::String* {
    return autoreleased(new_string(state_of(own).label));
  });
}
void Event::setLabel(const NS::String* label) {
  ask<Event>(this, [&](Event& own) { state_of(own).label = text_of(label); });
}
std::uint64_t SharedEvent::signaledValue() const {
  return ask<SharedEventObject>(this, [](const SharedEventObject& own) {
    let_host_wait(own.state.signalled);
    return own.state.value;
  });
}
void SharedEvent::setSignaledValue(std::uint64_t value) {
  ask<SharedEventObject>(this, [&](SharedEventObject& own) {
    own.state.value = value;
    own.state.signalled.clear();  // by the CPU, which is ordered before what is committed later
    tell_listeners(own);
    run_queues();
  });
}
bool SharedEvent::waitUntilSignaledValue(std::uint64_t value, std::uint64_t milliseconds) {
  std::unique_lock lock(library_mutex());
  if (!is_usable(this)) return false;
  const Ref<SharedEventObject> own = static_cast<SharedEventObject*>(this);
  const auto is_reached = [&] { return own->state.value >= value; };
  constexpr std::uint64_t most = 24ull * 3600 * 1000;
  if (!wait_until(lock, std::min(milliseconds, most), is_reached)) return false;
  let_host_wait(own->state.signalled);
  return true;
}
namespace {
struct ListenerObject final : SharedEventListener {};
}  // namespace
SharedEventListener* SharedEventListener::alloc() {
  return named(new ListenerObject, "MTL::SharedEventListener");
}
SharedEventListener* SharedEventListener::init() { return this; }
void SharedEvent::notifyListener(const SharedEventListener*, std::uint64_t value,
                                 const SharedEventNotificationFunction& function) {
  ask<SharedEventObject>(this, [&](SharedEventObject& own) {
    own.listeners.push_back({value, function});
    tell_listeners(own);
  });
}

}  // namespace MTL
