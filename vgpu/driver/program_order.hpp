#pragma once
// The order of the program's operations: which of them streams, events, graphs and synchronizing
// calls order, and the accesses of those that nothing orders.
//
// Operations run at once, one after the other. Each has a point in a vector clock
// (happens_before/program_clock.hpp), and its accesses are compared with those of all operations
// that are not ordered before it. Nothing is recorded until the program does something that leaves
// operations unordered (raise()). Threads of the host count as one (driver/host_threads.hpp).

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "vgpu/driver/host_pages.hpp"
#include "vgpu/driver/program_reports.hpp"
#include "vgpu/happens_before/program_clock.hpp"
#include "vgpu/happens_before/program_shadow.hpp"
#include "vgpu/memory/launch_accesses.hpp"

namespace rung::vgpu::driver {

struct ContextState;
struct StreamState;

/// The end of an operation.
struct OperationEnd {
  ProgramClock all;  // the operation, and everything ordered before it
  bool is_recorded = false;
  // For a programmatic dependent launch after a kernel:
  bool is_kernel = false;
  ProgramClock begun;     // what the kernel's first accesses are ordered after
  ProgramClock before;    // the same for a kernel that starts when this one has triggered
  ProgramClock complete;  // what is complete when griddepcontrol.wait returns
};

/// True if the operations of a stream wait for all earlier ones of the other.
bool follows(const ContextState& context, const StreamState& stream, const StreamState& earlier);

/// An operation that a later one need not wait for if that is a programmatic dependent launch.
struct PreviousOperation {
  const OperationEnd* end = nullptr;
  GraphEdge::Port port = GraphEdge::Port::trigger;
};

/// Everything that precedes a wait for an event.
struct EventOrder {
  ProgramClock all;
  // If a launch recorded it (programmatic and launch completion events): what is complete when
  // griddepcontrol.wait returns in a kernel that waits for the event.
  ProgramClock complete;
};

/// The part of StreamState for the order of operations.
struct StreamOrder {
  OperationEnd end;      // of the last operation
  ProgramClock awaited;  // EventOrder::complete of the waits at its end
  std::optional<std::uint32_t> timeline;
};

class ProgramOrder {
 public:
  enum class Level : std::uint8_t {
    nothing,      // one stream, and no memory that the host can access
    host_memory,  // one stream, and memory that the host can access
    all,
  };

  /// Reports unordered operations from now on, if there is an observer.
  void enable(OrderObserver observer, ProgramSource* source);
  /// The program creates a stream, or allocates memory that the host can access.
  void raise(Level level);
  bool is_on() const { return level_ != Level::nothing; }
  bool records_all_memory() const { return level_ == Level::all; }
  ProgramReports& reports() { return reports_; }

  /// The program's call that makes an operation, and what the host has waited for before it.
  struct Call {
    std::uint32_t site = 0;
    ProgramClock host;
  };
  Call call() const { return is_on() ? Call{reports_.site(), host_} : Call(); }
  /// Runs an operation of the stream, which `call` has made. run() calls the functions below.
  template <class Run>
  void operate(ContextState& context, StreamState& stream, const Call& call, const Run& run) {
    if (!is_on()) return run();
    if (is_within_library_call()) return run_within(run);
    const Scope scope(*this, context, stream, call);
    run();
  }
  /// Runs a node of the graph that the running operation launches. `after`: the ends of its
  /// dependencies, `previous` among them. `site`: of the call that made the node.
  template <class Run>
  void operate_node(std::span<const OperationEnd* const> after,
                    const std::vector<PreviousOperation>& previous, std::uint32_t site,
                    OperationEnd& end, const Run& run) {
    if (!is_on() || running_ == nullptr) return run();
    const Scope scope(*this, after, previous, site, end);
    run();
  }

  /// The running operation becomes a library's: a host function of a graph calls it.
  void describe_library_call();
  /// The call that made the running operation.
  std::uint32_t running_site() const { return running_ == nullptr ? 0 : running_->text.site; }
  /// Says what the running operation is. Call it before the accesses.
  void describe(const char* what, const std::string& kernel = {}, const char* verb = "");
  /// An access of the running operation. Memory that the device cannot access is ignored.
  void access(const DeviceMemory& memory, std::uint64_t address, std::uint64_t bytes, Touch touch);
  /// The running operation is a kernel. `early`: it is a programmatic dependent launch. Returns true if
  /// it may start before an earlier kernel has ended.
  bool start_kernel(bool early);
  /// Returns false if no access before griddepcontrol.wait conflicts with an operation that may still
  /// run, and these operations have been recorded.
  bool access(const LaunchAccesses& accesses, const DeviceMemory& memory);
  /// The running operation allocates or frees the memory.
  void replace(const DeviceMemory& memory, const ProgramMemory& replaced);
  /// The host waits until the running operation has ended.
  void let_host_wait();
  /// Runs a function of the host as the running operation, which sees its accesses to memory that other
  /// operations access.
  template <class Run>
  void run_on_host(const ContextState& context, const Run& run) {
    if (running_ == nullptr) return run();
    protect_pages(true);
    if (running_->follows_functions) watch_function(context);
    run();
    pages_.lift();
    if (running_->follows_functions) record_function(context);
  }
  /// The nodes of the running operation, a graph, have several functions of the host, whose accesses are compared with
  /// each other.
  void compare_functions() {
    if (running_ != nullptr) running_->compares_functions = true;
  }
  /// The order of an event that the running operation records.
  EventOrder recorded() const;
  /// The order of an event that the running operation, a kernel, records at this point of its blocks.
  EventOrder recorded_by_kernel(GraphEdge::Port port) const;
  /// The running operation starts after everything that the clock orders.
  void start_after(const ProgramClock& clock);
  /// Everything ordered before the end of the running operation, with its nodes.
  ProgramClock reached() const;
  /// The running operation waits for an event.
  void wait_for(const EventOrder& event);

  // Calls by which the host waits.
  void synchronize(const ContextState& context, const StreamState& stream);
  void synchronize(const ProgramClock& event);
  void synchronize_all();

  /// The host frees memory without waiting.
  void free_by_host(const DeviceMemory& memory, const ProgramMemory& freed);
  /// The memory does not exist any more.
  void forget(std::uint64_t address);
  void destroy(StreamState& stream);

  /// True if host code may not access some pages. May be called without holding the driver's lock.
  bool protects_pages() const { return pages_.is_protected(); }
  bool has_protected_pages() const { return pages_.has_protected(); }
  enum class HostAccess : std::uint8_t {
    not_protected,
    seen,        // the page is accessible now
    other_bytes  // so, until close_page()
  };
  /// Host code accesses memory, in the handler of the signal that this raised. `line` finds the
  /// program's line.
  HostAccess see_host_access(const DeviceMemory& memory, std::uint64_t address, Touch touch,
                             const std::function<ProgramSource::Line()>& line);
  void close_page(std::uint64_t address) {
    measure_write();
    pages_.close(address);
  }
  void leave_page_open(std::uint64_t address) {
    measured_bytes_ = 0;
    pages_.leave_open(address);
  }
  /// Allows all accesses of host code.
  void lift_pages() { pages_.lift(); }

 private:
  struct Running {
    Running* outer = nullptr;  // launches the graph, or is a host function that calls the driver
    ContextState* context = nullptr;
    StreamState* stream = nullptr;  // null for a node
    std::uint32_t timeline = 0;
    ProgramPoint point;
    ProgramClock settled;  // ordered before all later operations, nodes of its graph among them
    ProgramClock start;    // of everything ordered before it, and itself
    ProgramClock rest;     // `start` without itself and `previous`
    ProgramClock clock;    // `start`, and what its nodes and waits have added
    ProgramClock first;    // precedes its first accesses
    ProgramClock late;     // what accesses after griddepcontrol.wait are ordered after
    ProgramClock waited;   // events
    ProgramClock awaited;  // StreamOrder::awaited
    std::vector<PreviousOperation> previous;
    OperationEnd end;
    bool only_waits = true;  // a later launch may still start before `previous` has ended
    bool lets_host_wait = false;
    bool has_accesses = false;
    bool has_conflict = false;
    bool releases = false;      // ProgramAccess::releases
    bool starts_early = false;  // accesses before griddepcontrol.wait are ordered after less
    bool compares_functions = false;
    bool follows_functions = false;  // a node of a graph that compares functions
    std::optional<std::uint32_t> early_timeline;
    OperationText text;
  };
  class Scope {
   public:
    Scope(ProgramOrder& order, ContextState& context, StreamState& stream, const Call& call);
    Scope(ProgramOrder& order, std::span<const OperationEnd* const> after,
          const std::vector<PreviousOperation>& previous, std::uint32_t site, OperationEnd& end);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    void begin();

    ProgramOrder& order_;
    Running running_;
    OperationEnd* end_ = nullptr;  // receives the end of a node
  };

  /// True for an operation that a library's call makes as a part of the running one.
  bool is_within_library_call() const;
  template <class Run>
  void run_within(const Run& run) {
    pages_.lift();
    run();
  }
  void begin_accesses(const ProgramClock& clock, const DeviceMemory& memory);
  void watch_function(const ContextState& context);
  void note_function_access(const ProgramMemory& memory, std::uint64_t address, Touch touch);
  void record_function(const ContextState& context);
  void settle();
  void protect_pages(bool all);

  std::atomic<Level> level_ = Level::nothing;  // read without the driver's lock, too
  Timelines timelines_;
  ProgramClock host_;  // what the host has waited for
  ProgramShadow shadow_;
  HostPages pages_;
  ProgramReports reports_;
  Running* running_ = nullptr;
  struct HostTouch {
    std::uint64_t address, bytes;
    Touch touch;
  };
  /// The last write of the function has been made: finds how many bytes it has changed.
  void measure_write();
  // Accesses of the running function. They are seen in a handler of signals, which must not allocate.
  std::vector<HostTouch> function_touches_;
  std::array<std::byte, 64> before_write_{};  // from the address of the last one
  std::size_t measured_bytes_ = 0;            // that are to be compared with it
};

}  // namespace rung::vgpu::driver
