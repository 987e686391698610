#pragma once
// The CUDA driver API on the virtual GPU. It behaves like the real driver, with these differences:
//   - Work runs immediately, in the calling thread. Order within a stream is kept, every stream is
//     always idle, and nothing runs concurrently.
//   - The time between two events is that of the simulation; it says nothing about a GPU.
//   - Modules must be PTX: machine code is rejected with CUDA_ERROR_NO_BINARY_FOR_GPU.
//   - Every context has its own memory, as large as the device's.
//   - After a fault, the error is sticky as on a GPU, but destroying the context, or resetting the
//     primary one, restores a working device.
// As on a GPU, a faulty launch itself succeeds, and the following calls return the error.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/cuda_driver/api.hpp"
#include "vgpu/launch.hpp"

namespace rung::vgpu {

/// The table of driver functions. Its state is per process; any thread may call it.
const cuda::DriverApi& virtual_driver();

/// The description of device 0, the only device; an H200 by default. set_virtual_device() throws
/// std::logic_error while a context exists.
void set_virtual_device(const DeviceDescription& device);
const DeviceDescription& virtual_device();

/// Default options for running kernels, which may be set at any time; the other LaunchOptions come
/// from the launch.
struct LaunchDefaults {
  bool observe = true;
  unsigned threads = 0;
  std::uint64_t instruction_limit = LaunchOptions{}.instruction_limit;
  std::size_t hazard_limit = LaunchOptions{}.hazard_limit;
  /// Maximum number of launches of each kernel that run; later ones do nothing. For programs that
  /// repeat a kernel to measure it. 0: no limit.
  std::uint64_t launches_per_kernel = 0;
  /// A launch that repeats one that changed nothing is reported without running again
  /// (driver/launch_memo.hpp).
  bool remembers_launches = false;
  /// The number of launches of each kernel and configuration that are observed; 0: all.
  std::uint64_t observed_launches = 0;
};
void set_launch_defaults(const LaunchDefaults& defaults);

/// The part of a kernel's launches that the options above left out.
struct SkippedLaunches {
  enum class Left { run, repeated_run, observation };
  std::string kernel;
  std::uint64_t ran = 0, skipped = 0;
  Left left = Left::run;
};
std::vector<SkippedLaunches> skipped_launches();

/// The kernel that runs, and since how many seconds; nothing between launches. May be called in any thread while
/// another one launches.
struct RunningLaunch {
  std::string kernel;
  double seconds = 0;
};
std::optional<RunningLaunch> running_launch();

/// Called in the launching thread after every launch that ran. It may call the driver.
/// set_launch_observer() replaces the previous observer; an empty one removes it.
using LaunchObserver = std::function<void(const LaunchReport& report, const Kernel& kernel)>;
void set_launch_observer(LaunchObserver observer);

/// Passed to all later observed launches (LaunchOptions::watcher); an empty one stops watching.
void set_access_watcher(AccessWatcher watcher);
/// The current watcher, for launches on devices other than the driver's.
AccessWatcher access_watcher();

/// Finds the program's lines, for reports of unordered operations.
class ProgramSource {
 public:
  virtual ~ProgramSource() = default;
  /// A number for the program's call that is under way, the same for equal calls. Called often.
  virtual std::uint32_t here() = 0;
  struct Line {
    std::string file;  // as the compiler was given it; empty if unknown
    int line = 0;
    std::string name;  // "a.cu:14"
    // The lines of the calls that led there, if others lead there, too: "a.cu:30, a.cu:52"; innermost first.
    std::string callers;
  };
  virtual Line line(std::uint32_t site) = 0;
  /// The variable whose address the call takes first: "s" for cudaStreamCreate(&s). Empty if unknown.
  virtual std::string variable(std::uint32_t site) = 0;
};

/// Receives each pair of operations that access the same bytes although nothing orders them, as a
/// HazardKind::unordered (driver/program_order.hpp). With an empty observer nothing is recorded.
/// `source` may be null; otherwise it must live as long as the process.
using OrderObserver = std::function<void(const Hazard&)>;
void set_order_observer(OrderObserver observer, ProgramSource* source);
/// Records the accesses of all operations from now on, not only once a stream has been created.
void record_all_operations();

/// A call of a library that computes on the CPU. As long as this object lives, the copies of the calling thread
/// are accesses by `name`, in the stream that is given to them, and the host waits for none of them. `name` must
/// be a literal: "cuBLAS call".
class LibraryCall {
 public:
  explicit LibraryCall(const char* name);
  ~LibraryCall();
  LibraryCall(const LibraryCall&) = delete;
  LibraryCall& operator=(const LibraryCall&) = delete;
  /// The call returns a result to the host: it waits for the stream, as the library does.
  static cuda::Result let_host_wait(cuda::Stream stream);

 private:
  const char* outer_;
};

/// An operation of the stream, or of the graph that it captures, that allocates or frees memory which a graph owns.
/// The memory stays as it is: the operation accesses all of it, for the order of operations.
cuda::Result replace_graph_memory(cuda::DevicePointer memory, bool frees, cuda::Stream stream);

/// Records an event, as cuEventRecord(). In a capture, it becomes an operation that records the event each
/// time the graph runs.
cuda::Result record_external(cuda::Event event, cuda::Stream stream);

/// An edge of a graph, from a node with a lower index. Ports other than completion are those of programmatic
/// edges between kernels (CUDA Runtime API, cudaGraphKernelNodePort*).
struct GraphEdge {
  enum class Port : std::uint8_t {
    completion,
    trigger,  // all blocks have executed griddepcontrol.launch_dependents, or ended
    start,    // all blocks have started
  };
  std::size_t node = 0;
  Port port = Port::completion;
};
struct NodeGraph;
/// A node that runs one of its graphs, or none, by the value of its condition: four bytes of device memory, which
/// kernels write (CUDA Runtime API, cudaGraphSetConditional).
struct ConditionalNode {
  enum class Kind : std::uint8_t { branch, loop, choice };
  Kind kind = Kind::branch;
  cuda::DevicePointer condition = 0;
  std::vector<NodeGraph> bodies;  // branch: if, and else if there are two
};
/// A graph whose nodes are executable graphs: `after[i]` are the edges to node i.
struct NodeGraph {
  /// The value of a condition at the start of the graph; without one, it is undefined.
  struct Start {
    cuda::DevicePointer condition = 0;
    std::optional<unsigned> value;
  };
  std::vector<cuda::GraphExec> nodes;  // of a conditional node: of read_condition()
  std::vector<std::vector<GraphEdge>> after;
  std::map<std::size_t, ConditionalNode> conditional;
  std::vector<Start> starts;
};
cuda::Result launch_as_nodes(const NodeGraph& graph, cuda::Stream stream);
/// An operation of the graph that the stream captures: reads the condition of a conditional node.
cuda::Result read_condition(cuda::DevicePointer condition, cuda::Stream stream);

/// Receives the output of kernels' printf, which appears at synchronizing calls as on a GPU.
/// Standard output by default.
using PrintSink = std::function<void(const std::string& text)>;
void set_print_sink(PrintSink sink);

/// The reason for this thread's last failed call, in one line; empty if the error's name says
/// everything.
const std::string& virtual_driver_message();

/// The number by which messages name the allocation that begins at this address ("allocation 3 of 64 bytes");
/// 0 if none of the current context does.
std::uint64_t allocation_number(std::uint64_t address);

/// The number of operations that a graph of the current context replays; 0 if there is no such
/// graph.
std::size_t graph_operations(cuda::Graph graph);

/// Device memory of the current context that is not freed yet, each as a HazardKind::leak.
/// Host memory is omitted, because it belongs to the process.
std::vector<Hazard> find_leaks();

}  // namespace rung::vgpu
