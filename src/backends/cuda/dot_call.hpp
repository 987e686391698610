#pragma once
// A dot product or a sum bound to a device: its vectors copied there, its launches computed.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/cuda/device_buffer.hpp"
#include "backends/cuda/dot_operands.hpp"
#include "backends/cuda/kernel_name.hpp"
#include "backends/cuda/rungs.hpp"
#include "core/call.hpp"

namespace rung::cuda {

/// Nothing if a grid can be as large as the problem asks for, else the reason in a few words.
std::optional<std::string> why_not_grid(const DotRung& rung, const DotCall& call,
                                        const Limits& limits);

class DotCallOnGpu {
 public:
  /// `id` is of one of dot_rungs, of which the device must take an image. `call` must be one for
  /// which why_not_grid() gives nothing, and the context must be current. Throws DriverError and
  /// std::bad_alloc.
  DotCallOnGpu(Gpu& gpu, std::string_view id, const DotCall& call, int threads, void* result);

  /// With Finish::host, returns when the CPU has added up: it waits for each launch.
  void enqueue(std::int64_t calls);
  void wait();
  void download();

 private:
  struct Step {
    KernelName kernel;
    DotLaunch launch;
    std::vector<std::byte> problem;  // Dot<In>, with the device's pointers
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
