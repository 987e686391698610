#pragma once
// The CUDA driver API on the virtual GPU. It behaves as the real driver does, except that
//  - work runs at once, in the calling thread, so that every stream is always idle: order within a
//    stream is kept, and nothing runs at the same time as anything else;
//  - the time between two events is this computer's, for the simulation: it says nothing of a GPU;
//  - modules are PTX text: machine code is refused (CUDA_ERROR_NO_BINARY_FOR_GPU);
//  - every context has a memory of its own, as large as the device's;
//  - after a fault, CUDA_ERROR_… sticks to the context as on a GPU, but destroying the context, or
//    resetting the primary one, gives a working device again.
// As on a GPU a faulty launch itself succeeds, and the calls after it return the error.

#include <functional>
#include <string>
#include <vector>

#include "cuda_driver/api.hpp"
#include "vgpu/launch.hpp"

namespace rung::vgpu {

/// The table. Its state is the process's, and its calls may come from any thread.
const cuda::DriverApi& virtual_driver();

/// What device 0, the only one, is: an H200 unless set. Throws std::logic_error while there is a
/// context.
void set_virtual_device(const DeviceDescription& device);
const DeviceDescription& virtual_device();

/// How kernels run; the rest of LaunchOptions comes from the launch. May be set at any time.
struct LaunchDefaults {
  bool observe = true;
  unsigned threads = 0;
  std::uint64_t instruction_limit = LaunchOptions{}.instruction_limit;
  std::size_t hazard_limit = LaunchOptions{}.hazard_limit;
};
void set_launch_defaults(const LaunchDefaults& defaults);

/// Called after every launch that ran, in the launching thread. It may call the driver. Replaces
/// the observer before; an empty one stops it.
using LaunchObserver = std::function<void(const LaunchReport& report, const Kernel& kernel)>;
void set_launch_observer(LaunchObserver observer);

/// Where the kernels' printf goes, at synchronising calls as on a GPU; standard output unless set.
using PrintSink = std::function<void(const std::string& text)>;
void set_print_sink(PrintSink sink);

/// Why the last call that failed in this thread did: one line, more than the error's name says.
/// Empty if there is no more to say.
const std::string& virtual_driver_message();

/// Device memory of the current context that the program has not freed, each a HazardKind::leak.
/// Host memory is left out: it is the process's.
std::vector<Hazard> find_leaks();

}  // namespace rung::vgpu
