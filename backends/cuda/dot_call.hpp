#pragma once
// A dot product or sum bound to a device: copied vectors and planned launches.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/cuda/device_buffer.hpp"
#include "backends/cuda/dot_operands.hpp"
#include "backends/rungs/cuda.hpp"
#include "backends/rungs/kernel_name.hpp"
#include "core/call.hpp"

namespace rung::cuda {

/// Empty if the grid is within the device's limits, otherwise the reason in a few words.
std::optional<std::string> why_not_grid(const DotRung& rung, const DotCall& call,
                                        const Limits& limits);

class DotCallOnGpu {
 public:
  /// Preconditions: why_not_grid() is empty for `call`, `id` names one of dot_rungs, the build has
  /// an image of it for the device, and the context is current. Throws DriverError and
  /// std::bad_alloc.
  DotCallOnGpu(Gpu& gpu, std::string_view id, const DotCall& call, int threads, void* result);

  /// With Finish::host, waits for each launch and returns when the CPU has added the sums.
  void enqueue(std::int64_t calls);
  void wait();
  void download();

 private:
  struct Step {
    KernelName kernel;
    DotLaunch launch;
    std::vector<std::byte> problem;  // Dot<In> with device pointers
    DotTarget target;
  };

  void plan(std::string_view id, const DotCall& call);
  void place(std::int64_t element_bytes);
  void run_once();
  void add_up_on_host();

  Gpu& gpu_;
  int threads_;
  Dtype sum_type_;
  DotOperands operands_;
  std::string name_;  // of the first kernel
  std::vector<Step> steps_;
  Finish finish_ = Finish::none;
  std::optional<DeviceBuffer> workspace_, sums_;
  std::vector<std::byte> host_sums_;
};

}  // namespace rung::cuda
