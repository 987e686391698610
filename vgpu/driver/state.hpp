#pragma once
// The virtual driver's state: the process, its contexts, and the contents of a context.

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "core/cuda_driver/api.hpp"
#include "vgpu/driver/capture.hpp"
#include "vgpu/driver/handles.hpp"
#include "vgpu/driver/launch_memo.hpp"
#include "vgpu/driver/pending_operations.hpp"
#include "vgpu/driver/program_order.hpp"
#include "vgpu/driver/virtual_driver.hpp"
#include "vgpu/launch.hpp"
#include "vgpu/schedule.hpp"

namespace rung::vgpu::driver {

/// cuCtxGetStreamPriorityRange: lower numbers have priority. The virtual GPU ignores priorities.
inline constexpr int least_priority = 0;
inline constexpr int greatest_priority = -5;

struct StreamState {
  std::uint64_t id = next_handle();  // never reused
  unsigned flags = 0;
  int priority = 0;
  std::shared_ptr<Capture> capture;  // null unless capturing
  StreamOrder order;
};

struct EventState {
  unsigned flags = 0;
  bool recorded = false;
  std::chrono::steady_clock::time_point time;
  // The operations ordered before the last record. Later waits keep it, even if the event is recorded again.
  std::shared_ptr<const EventOrder> order = std::make_shared<EventOrder>();
  std::optional<PendingOperations::Number> pending;  // of the last record
  // Valid if the event was last recorded in a capturing stream.
  std::weak_ptr<Capture> capture;
  bool captured = false;  // true even after that capture has ended
  CaptureClock clock;
  std::optional<GraphEdge> launch;  // the captured launch that recorded it, by an attribute
};

struct ModuleState;

struct FunctionState {
  const Kernel* kernel = nullptr;
  std::weak_ptr<ModuleState> module;
  cuda::Module module_handle = nullptr;
  std::int64_t max_dynamic_shared = 0;
  int carveout = -1;  // preferred shared-memory carveout in percent, or -1
  cuda::CacheConfig cache_config = cuda::CacheConfig::prefer_none;
  bool non_portable_cluster = false;
};

struct ModuleState {
  std::unique_ptr<vgpu::Module> module;
  bool depends_on_memory_only = false;  // driver/launch_memo.hpp
  std::map<std::string, cuda::Function, std::less<>> functions;
};

/// An object that the program ties to the lifetime of graphs (cuUserObjectCreate).
struct UserObjectState {
  UserObjectState(void* own_pointer, cuda::HostFunction own_destroy)
      : pointer(own_pointer), destroy(own_destroy) {}
  UserObjectState(const UserObjectState&) = delete;
  UserObjectState& operator=(const UserObjectState&) = delete;
  ~UserObjectState() { destroy(pointer); }

  void* pointer;
  cuda::HostFunction destroy;
};

struct GraphState {
  std::vector<CapturedOperation> operations;
  std::vector<std::shared_ptr<UserObjectState>> user_objects;
  std::vector<NodeGraph::Start> starts;
  ProgramClock launched;  // the end of the last launch, which orders it before the next one
};

/// How a range of the context's memory was allocated.
enum class Origin { device, pinned, registered, managed };
struct Range {
  Origin origin = Origin::device;
  unsigned flags = 0;
  bool in_stream = false;  // cuMemAllocAsync
};

struct ContextState {
  ContextState(cuda::Context own_handle, unsigned own_flags, const DeviceDescription& device);

  cuda::Context handle;
  std::uint64_t id;  // never reused, unlike the handle of the primary context
  unsigned flags;
  DeviceMemory memory;
  std::map<std::uint64_t, Range> ranges;  // by the allocation's address
  Handles<cuda::Module, ModuleState> modules;
  Handles<cuda::Function, FunctionState> functions;
  Handles<cuda::Stream, StreamState> streams;
  Handles<cuda::Event, EventState> events;
  Handles<cuda::Graph, GraphState> graphs;
  Handles<cuda::GraphExec, GraphState> graph_execs;
  StreamState legacy_stream;
  ProgramClock blocking_end;  // of the operations in streams that the legacy stream waits for
  std::map<std::uint64_t, StreamState> per_thread_streams;  // by thread_number()
  std::map<cuda::Limit, std::size_t> limits;
  cuda::CacheConfig cache_config = cuda::CacheConfig::prefer_none;
  std::vector<std::weak_ptr<Capture>> captures;
  std::uint64_t host_visible_bytes = 0;  // driver/judged_memory.hpp
  std::set<const Kernel*> kernels_run;
  LaunchMemo launch_memo;              // only if LaunchDefaults::remembers_launches
  std::string printed;                 // by the last kernel, not yet shown
  bool has_printed = false;            // a kernel that calls printf was launched
  std::uint64_t launched_threads = 0;  // of the last kernel; 0 before one, or if one was left out

  /// The sticky error after a fault.
  cuda::Result sticky = cuda::Result::success;
  std::string sticky_message;
};

/// A memory pool. It caches no memory: frees take effect immediately.
struct PoolState {
  std::uint64_t release_threshold = 0;
};

/// The primary context, used by the CUDA runtime and by Rung. It keeps its handle when it is reset.
struct PrimaryContext {
  cuda::Context handle = nullptr;
  unsigned flags = 0;
  int retained = 0;
};

struct Process {
  /// Held by every call. Recursive, because an observer may call the driver.
  std::recursive_mutex mutex;
  bool initialised = false;
  DeviceDescription device = known_devices().front();
  LaunchDefaults defaults;
  AccessWatcher watcher;
  LaunchObserver observer;
  MemoryObserver memory_observer;
  /// By kernel; only if LaunchDefaults::launches_per_kernel is set.
  std::map<std::string, std::uint64_t> launch_counts;
  PrintSink sink;
  bool starts_early = false;  // the running node of a graph has a programmatic edge
  ProgramOrder order;
  PendingOperations pending;
  std::map<cuda::Context, std::shared_ptr<ContextState>> contexts;
  Handles<cuda::MemoryPool, PoolState> pools;  // belong to the device, not to a context
  Handles<cuda::UserObject, UserObjectState> user_objects;
  PrimaryContext primary;
};

Process& process();

/// True if cuInit was called before the fork() that created this process.
bool is_forked_child();

/// The calling thread's context stack, and the reason for its last failed call.
std::vector<cuda::Context>& context_stack();
std::string& last_message();

/// A number of the calling thread that no later thread has, unlike its std::thread::id.
std::uint64_t thread_number();

/// The calling thread's capture mode (cuThreadExchangeStreamCaptureMode): which calls it may make
/// while streams capture.
cuda::CaptureMode& capture_mode();

/// Passes what kernels have printed so far to the print sink.
void flush_printed(ContextState& context);

}  // namespace rung::vgpu::driver
