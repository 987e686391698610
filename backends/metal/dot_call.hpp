#pragma once
// A dot product bound to a device: copied vectors and planned launches.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "backends/metal/device_operand.hpp"
#include "core/call.hpp"
#include "device/metal/dot_descriptor.hpp"

namespace rung::metal {

class DotCallOnDevice {
 public:
  /// `result` is the host address for the sum. Throws KernelError and std::bad_alloc.
  DotCallOnDevice(Device& device, std::string_view id, const DotRung& rung, const DotCall& call,
                  int threads, void* result);

  /// If the CPU adds the sums, waits for each launch and returns when the CPU has finished.
  void enqueue(std::int64_t calls);
  void wait() { device_.wait(); }
  /// Empty if the CPU adds the sums.
  std::optional<double> device_seconds() const {
    return ends_on_host() ? std::nullopt : device_.seconds();
  }
  /// Copies the sum to the host. Copies the vectors, too, so that verification can check that they
  /// are unchanged.
  void download();

 private:
  struct Step {
    Pipeline& pipeline;
    Launch launch;
    DotScalars scalars;
    std::int64_t from,
        to;  // offsets of inputs and outputs in sums_
  };

  void plan(std::string_view id, const DotCall& call);
  void run_once();
  void add_up_on_host();
  bool ends_on_host() const {
    return rung_.finish == Finish::host || rung_.finish == Finish::host_terms;
  }

  Device& device_;
  const DotRung& rung_;
  int threads_;
  Dtype sum_type_;
  DeviceOperand x_, y_;
  void* host_result_;
  std::vector<Step> steps_;
  std::unique_ptr<Buffer> sums_;  // sums of all steps; the last step's are the result
  std::int64_t result_at_ = 0;
  std::vector<std::byte> host_sums_;
};

}  // namespace rung::metal
