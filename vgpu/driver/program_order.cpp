#include "vgpu/driver/program_order.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "vgpu/driver/state.hpp"

namespace rung::vgpu::driver {
namespace {

/// The name of this thread's LibraryCall, or null.
thread_local const char* library_call = nullptr;

// As many accesses as HostPages lets through in all.
constexpr std::size_t most_function_touches = std::size_t{1} << 18;

bool is_blocking(const StreamState& stream) {
  return (stream.flags & cuda::stream_non_blocking) == 0;
}

bool is_legacy(const ContextState& context, const StreamState& stream) {
  return &stream == &context.legacy_stream;
}

ProgramClock joined(ProgramClock clock, const ProgramClock& other) {
  clock.join(other);
  return clock;
}

ProgramClock with(ProgramClock clock, ProgramPoint point) {
  clock.add(point);
  return clock;
}

}  // namespace

bool follows(const ContextState& context, const StreamState& stream, const StreamState& earlier) {
  if (&stream == &earlier) return true;
  return (is_legacy(context, stream) && is_blocking(earlier)) ||
         (is_legacy(context, earlier) && is_blocking(stream));
}

void ProgramOrder::enable(OrderObserver observer, ProgramSource* source) {
  reports_.observe(std::move(observer), source);
  if (!reports_.has_observer()) level_ = Level::nothing;
}

void ProgramOrder::raise(Level level) {
  if (reports_.has_observer()) level_ = std::max(level_.load(), level);
}

ProgramOrder::Scope::Scope(ProgramOrder& order, ContextState& context, StreamState& stream,
                           const Call& call)
    : order_(order) {
  running_.context = &context;
  running_.stream = &stream;
  running_.settled = order.host_;
  running_.rest = call.host;
  if (is_legacy(context, stream)) {
    running_.rest.join(context.blocking_end);
  } else if (is_blocking(stream)) {
    running_.rest.join(context.legacy_stream.order.end.all);
  }
  if (order.running_ != nullptr) running_.rest.join(order.running_->start);
  running_.start = joined(running_.rest, stream.order.end.all);
  if (!stream.order.timeline) stream.order.timeline = order.timelines_.acquire(running_.start);
  running_.timeline = *stream.order.timeline;
  running_.previous = {{&stream.order.end}};
  running_.awaited = stream.order.awaited;
  running_.text.site = call.site;
  running_.text.stream = is_legacy(context, stream) ? ProgramReports::legacy_stream : stream.id;
  begin();
}

ProgramOrder::Scope::Scope(ProgramOrder& order, std::span<const OperationEnd* const> after,
                           const std::vector<PreviousOperation>& previous, std::uint32_t site,
                           OperationEnd& end)
    : order_(order), end_(&end) {
  const Running& graph = *order.running_;
  running_.settled = graph.settled;
  running_.rest = graph.start;
  for (const OperationEnd* other : after) {
    const bool is_previous = std::ranges::any_of(
        previous, [&](const PreviousOperation& edge) { return edge.end == other; });
    if (!is_previous) running_.rest.join(other->all);
  }
  running_.start = running_.rest;
  for (const PreviousOperation& edge : previous) running_.start.join(edge.end->all);
  running_.timeline = order.timelines_.acquire(running_.start);
  running_.previous = previous;
  running_.text.site = site;
  running_.text.stream = graph.text.stream;
  running_.text.in_graph = true;
  running_.follows_functions = graph.compares_functions;
  begin();
}

void ProgramOrder::Scope::begin() {
  order_.pages_.lift();
  running_.outer = std::exchange(order_.running_, &running_);
  running_.first = running_.late = running_.start;
  running_.point = order_.timelines_.advance(running_.timeline);
  running_.start.add(running_.point);
  running_.clock = running_.start;
}

ProgramOrder::Scope::~Scope() {
  ProgramOrder& order = order_;
  Running& own = running_;
  order.running_ = own.outer;
  OperationEnd end = std::move(own.end);
  end.is_recorded = true;
  end.all = std::move(own.clock);
  if (own.only_waits && own.previous.size() == 1 && own.previous.front().end->is_kernel) {
    const OperationEnd& previous = *own.previous.front().end;
    end.is_kernel = true;
    end.begun = joined(previous.begun, own.waited);
    end.before = joined(previous.before, own.waited);
    end.complete = joined(previous.complete, own.waited);
  }
  if (own.early_timeline) order.timelines_.release(*own.early_timeline);
  if (own.lets_host_wait) order.synchronize(end.all);
  if (own.outer != nullptr) {
    own.outer->clock.join(end.all);
    own.outer->only_waits = false;
  }
  if (own.stream == nullptr) {
    order.timelines_.release(own.timeline);
    *end_ = std::move(end);
    return;
  }
  const bool blocks = is_blocking(*own.stream) && !is_legacy(*own.context, *own.stream);
  if (blocks) own.context->blocking_end.join(end.all);
  own.stream->order.end = std::move(end);
  own.stream->order.awaited = own.only_waits ? std::move(own.awaited) : ProgramClock();
  order.protect_pages(false);
}

void ProgramOrder::watch_function(const ContextState& context) {
  for (const auto& [address, range] : context.ranges) {
    const Allocation* const allocation = context.memory.find(address);
    if (allocation != nullptr && allocation->host && !allocation->is_io) pages_.note(*allocation);
  }
  function_touches_.clear();
  function_touches_.reserve(most_function_touches);
  pages_.protect_all();
}

/// Only the first byte of each access, and the bytes that a write has changed, are known.
void ProgramOrder::record_function(const ContextState& context) {
  const auto was_reported = [](const ProgramShadow::Conflict&) {};
  shadow_.begin({running_->point, reports_.label(running_->text)}, running_->first,
                running_->settled, was_reported);
  for (const HostTouch& seen : function_touches_) {
    const Allocation* const allocation = context.memory.find(seen.address);
    if (allocation == nullptr) continue;
    const std::uint64_t offset = seen.address - allocation->address;
    shadow_.touch({allocation->address, allocation->bytes}, offset, seen.bytes, seen.touch);
  }
}

void ProgramOrder::note_function_access(const ProgramMemory& memory, std::uint64_t address,
                                        Touch touch) {
  if (function_touches_.size() == most_function_touches) return;
  function_touches_.push_back({address, 1, touch});
  if (touch == Touch::read) return;
  // The rest of an aligned block of this size is in the same page.
  const std::uint64_t left = before_write_.size() - address % before_write_.size();
  measured_bytes_ = std::min(left, memory.address + memory.bytes - address);
  std::memcpy(before_write_.data(), reinterpret_cast<const void*>(address), measured_bytes_);
}

void ProgramOrder::measure_write() {
  if (measured_bytes_ == 0) return;
  HostTouch& write = function_touches_.back();
  const auto* const now = reinterpret_cast<const std::byte*>(write.address);
  for (std::size_t i = 0; i < measured_bytes_; ++i) {
    if (now[i] != before_write_[i]) write.bytes = i + 1;
  }
  measured_bytes_ = 0;
}

void ProgramOrder::begin_accesses(const ProgramClock& clock, const DeviceMemory& memory) {
  const std::uint32_t label = reports_.label(running_->text);
  shadow_.begin({running_->point, label, running_->releases}, clock, running_->settled,
                [this, label, &memory](const ProgramShadow::Conflict& conflict) {
                  running_->has_conflict = true;
                  reports_.report(conflict, label, memory);
                });
}

bool ProgramOrder::is_within_library_call() const {
  return library_call != nullptr && running_ != nullptr;
}

void ProgramOrder::describe_library_call() {
  if (!is_within_library_call()) return;
  describe(library_call);
  running_->lets_host_wait = false;
}

void ProgramOrder::describe(const char* what, const std::string& kernel, const char* verb) {
  if (running_ == nullptr) return;
  running_->text.what = library_call == nullptr ? what : library_call;
  running_->text.kernel = kernel;
  running_->text.verb = verb;
  running_->only_waits = false;
}

void ProgramOrder::access(const DeviceMemory& memory, std::uint64_t address, std::uint64_t bytes,
                          Touch touch) {
  if (running_ == nullptr) return;
  const Allocation* const allocation = memory.find(address);
  if (allocation == nullptr || (!records_all_memory() && !allocation->host)) return;
  if (allocation->host && !allocation->is_io) pages_.note(*allocation);
  const std::uint64_t offset = address - allocation->address;
  if (!std::exchange(running_->has_accesses, true)) begin_accesses(running_->first, memory);
  shadow_.touch({allocation->address, allocation->bytes}, offset,
                std::min<std::uint64_t>(bytes, allocation->bytes - offset), touch);
}

bool ProgramOrder::start_kernel(bool early) {
  if (running_ == nullptr) return early;
  Running& own = *running_;
  own.end.is_kernel = true;
  const bool follows_kernel = std::ranges::any_of(
      own.previous, [](const PreviousOperation& edge) { return edge.end->is_kernel; });
  if (early && follows_kernel) {
    own.first = own.late = own.rest;
    for (const auto& [end, port] : own.previous) {
      const bool at_start = port == GraphEdge::Port::start;
      own.first.join(!end->is_kernel ? end->all : at_start ? end->begun : end->before);
      own.late.join(end->is_kernel ? end->complete : end->all);
    }
    // Later operations of the same timeline would be ordered after the previous kernel, too.
    own.early_timeline = timelines_.acquire(own.first);
    own.point = timelines_.advance(*own.early_timeline);
    own.clock.add(own.point);
  }
  own.end.begun = own.end.before = own.first;
  own.late.join(own.awaited);
  const bool is_known = std::ranges::all_of(
      own.previous, [](const PreviousOperation& edge) { return edge.end->is_recorded; });
  own.starts_early = own.early_timeline || !own.first.covers(own.late);
  return own.starts_early || (early && !is_known);
}

bool ProgramOrder::access(const LaunchAccesses& accesses, const DeviceMemory& memory) {
  if (running_ == nullptr) return true;
  Running& own = *running_;
  own.releases = accesses.has_released();
  for (const auto& touched : accesses.touched(false)) {
    if (!accesses.has_acquired()) break;
    const ProgramClock seen = shadow_.seen_by(*touched);
    own.late.join(seen);
    own.clock.join(seen);
  }
  const bool waited = accesses.has_waited() || !own.starts_early;
  own.end.complete = with(waited ? own.late : own.first, own.point);
  if (waited) own.clock.join(own.late);
  if (accesses.triggers_after_wait()) own.end.before = own.late;
  bool has_early_conflict = false;
  for (const bool early : {true, false}) {
    if (accesses.touched(early).empty()) continue;
    begin_accesses(early ? own.first : own.late, memory);
    own.has_conflict = false;
    for (const auto& touched : accesses.touched(early)) {
      shadow_.touch(*touched);
      const Allocation& reached = touched->allocation();
      if (reached.host && !reached.is_io) pages_.note(reached);
    }
    has_early_conflict = has_early_conflict || (early && own.has_conflict);
  }
  return has_early_conflict || !own.starts_early;
}

void ProgramOrder::replace(const DeviceMemory& memory, const ProgramMemory& replaced) {
  if (running_ == nullptr) return;
  begin_accesses(running_->first, memory);
  shadow_.touch(replaced, 0, replaced.bytes, Touch::write);
}

void ProgramOrder::free_by_host(const DeviceMemory& memory, const ProgramMemory& freed) {
  if (!is_on() || running_ != nullptr) return;
  Running host;
  host.text = {"free", {}, "frees", reports_.site(), ProgramReports::host, false};
  host.settled = host_;
  running_ = &host;
  begin_accesses(host_, memory);
  shadow_.touch(freed, 0, freed.bytes, Touch::write);
  running_ = nullptr;
}

void ProgramOrder::let_host_wait() {
  if (running_ != nullptr && library_call == nullptr) running_->lets_host_wait = true;
}

EventOrder ProgramOrder::recorded() const {
  return running_ == nullptr ? EventOrder() : EventOrder{running_->start, running_->awaited};
}

EventOrder ProgramOrder::recorded_by_kernel(GraphEdge::Port port) const {
  if (running_ == nullptr) return {};
  const OperationEnd& end = running_->end;
  if (!end.is_kernel) return {running_->start, {}};
  return {port == GraphEdge::Port::start ? end.begun : end.before, end.complete};
}

void ProgramOrder::start_after(const ProgramClock& clock) {
  if (running_ == nullptr) return;
  for (ProgramClock* own :
       {&running_->rest, &running_->start, &running_->first, &running_->late, &running_->clock}) {
    own->join(clock);
  }
}

ProgramClock ProgramOrder::reached() const {
  return running_ == nullptr ? ProgramClock() : running_->clock;
}

void ProgramOrder::wait_for(const EventOrder& event) {
  if (running_ == nullptr) return;
  running_->clock.join(event.all);
  running_->waited.join(event.all);
  running_->awaited.join(event.complete);
}

void ProgramOrder::synchronize(const ContextState& context, const StreamState& stream) {
  if (!is_on() || library_call != nullptr) return;
  host_.join(stream.order.end.all);
  if (is_legacy(context, stream)) host_.join(context.blocking_end);
  settle();
}

void ProgramOrder::synchronize(const ProgramClock& event) {
  if (!is_on()) return;
  host_.join(event);
  settle();
}

void ProgramOrder::synchronize_all() {
  if (is_on()) synchronize(timelines_.all());
}

void ProgramOrder::settle() {
  if (running_ != nullptr) return;
  if (host_.covers(timelines_.all())) shadow_.forget_all();
  protect_pages(true);
}

void ProgramOrder::protect_pages(bool all) {
  pages_.protect(shadow_, running_ == nullptr ? host_ : running_->start, all);
}

void ProgramOrder::forget(std::uint64_t address) {
  pages_.forget(address);
  reports_.forget_memory(address);
  shadow_.forget(address);
}

ProgramOrder::HostAccess ProgramOrder::see_host_access(
    const DeviceMemory& memory, std::uint64_t address, Touch touch,
    const std::function<ProgramSource::Line()>& line) {
  const auto opened = pages_.open(address);
  if (!opened) return HostAccess::not_protected;
  bool sees_flag = false, has_conflict = false;
  shadow_.check(opened->memory, address - opened->memory.address, touch,
                running_ == nullptr ? host_ : running_->start,
                [&](const ProgramShadow::Conflict& conflict) {
                  has_conflict = true;
                  if (touch == Touch::read && conflict.earlier_touch == Touch::synchronized_write) {
                    sees_flag = sees_flag || conflict.earlier.releases;
                  } else {
                    reports_.report_host(conflict, line(),
                                         running_ == nullptr ? nullptr : &running_->text, memory);
                  }
                });
  if (running_ != nullptr && running_->follows_functions) {
    note_function_access(opened->memory, address, touch);
  }
  if (opened->may_close && !has_conflict) return HostAccess::other_bytes;
  measured_bytes_ = 0;
  pages_.leave_open(address);
  // The program polls a flag that a kernel sets: what the kernel did before it is done.
  if (sees_flag) synchronize_all();
  return HostAccess::seen;
}

void ProgramOrder::destroy(StreamState& stream) {
  if (stream.order.timeline) timelines_.release(*stream.order.timeline);
  stream.order.timeline.reset();
}

}  // namespace rung::vgpu::driver

namespace rung::vgpu {

LibraryCall::LibraryCall(const char* name) : outer_(std::exchange(driver::library_call, name)) {
  const std::lock_guard lock(driver::process().mutex);
  driver::process().order.describe_library_call();
}

LibraryCall::~LibraryCall() { driver::library_call = outer_; }

cuda::Result LibraryCall::let_host_wait(cuda::Stream stream) {
  if (!driver::process().order.is_on()) return cuda::Result::success;
  const char* const name = std::exchange(driver::library_call, nullptr);
  const cuda::Result result = virtual_driver().cuStreamSynchronize(stream);
  driver::library_call = name;
  return result;
}

}  // namespace rung::vgpu
