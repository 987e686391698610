#pragma once
// The CUDA driver API on the virtual GPU. It behaves like the real driver, with these differences:
//  - Work runs at once, in the calling thread. Order within a stream is kept, every stream is always
//    idle, and nothing runs concurrently.
//  - The time between two events is that of the simulation, and says nothing about a GPU.
//  - Modules are PTX: machine code is rejected (CUDA_ERROR_NO_BINARY_FOR_GPU).
//  - Every context has its own memory, as large as the device's.
//  - After a fault, the error is sticky as on a GPU, but destroying the context, or resetting the
//    primary one, restores a working device.
// As on a GPU, a faulty launch itself succeeds, and the following calls return the error.

#include <functional>
#include <string>
#include <vector>

#include "cuda_driver/api.hpp"
#include "vgpu/launch.hpp"

namespace rung::vgpu {

/// The table. Its state is per process; any thread may call it.
const cuda::DriverApi& virtual_driver();

/// The description of device 0, the only one; an H200 by default. Throws std::logic_error while a
/// context exists.
void set_virtual_device(const DeviceDescription& device);
const DeviceDescription& virtual_device();

/// Options for running kernels; the other LaunchOptions come from the launch. May be set at any
/// time.
struct LaunchDefaults {
  bool observe = true;
  unsigned threads = 0;
  std::uint64_t instruction_limit = LaunchOptions{}.instruction_limit;
  std::size_t hazard_limit = LaunchOptions{}.hazard_limit;
  /// Later launches of a kernel do nothing, for programs that repeat them to measure; 0: all run.
  std::uint64_t launches_per_kernel = 0;
};
void set_launch_defaults(const LaunchDefaults& defaults);

/// The launches of each kernel that did nothing (LaunchDefaults::launches_per_kernel).
struct SkippedLaunches {
  std::string kernel;
  std::uint64_t ran = 0, skipped = 0;
};
std::vector<SkippedLaunches> skipped_launches();

/// Called after every launch that ran, in the launching thread. It may call the driver. Replaces
/// the previous observer; an empty one removes it.
using LaunchObserver = std::function<void(const LaunchReport& report, const Kernel& kernel)>;
void set_launch_observer(LaunchObserver observer);

/// Passed to all later launches that are observed (LaunchOptions::watcher); an empty one stops it.
void set_access_watcher(AccessWatcher watcher);
/// What was set last, for launches that other devices than the driver's make.
AccessWatcher access_watcher();

/// The destination of the kernels' printf output, which appears at synchronising calls, as on a
/// GPU; standard output by default.
using PrintSink = std::function<void(const std::string& text)>;
void set_print_sink(PrintSink sink);

/// The reason for this thread's last failed call, in one line, if there is more to say than the
/// error's name; otherwise empty.
const std::string& virtual_driver_message();

/// The operations that a graph of the current context replays; 0 if there is no such graph.
std::size_t graph_operations(cuda::Graph graph);

/// Device memory of the current context that the program has not freed, each as a HazardKind::leak.
/// Host memory is omitted, because it belongs to the process.
std::vector<Hazard> find_leaks();

}  // namespace rung::vgpu
