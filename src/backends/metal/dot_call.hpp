#pragma once
// A dot product bound to a device: its vectors are copied there, its launches computed.

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
  /// `result` is the host address of the sum. Throws KernelError and std::bad_alloc.
  DotCallOnDevice(Device& device, std::string_view id, const DotRung& rung, const DotCall& call,
                  int threads, void* result);

  /// If the CPU adds up the sums, returns when it has: it waits for each launch.
  void enqueue(std::int64_t calls);
  void wait() { device_.wait(); }
  /// Empty if the CPU adds up the sums.
  std::optional<double> device_seconds() const {
    return ends_on_host() ? std::nullopt : device_.seconds();
  }
  /// Copies the sum to the host, and the vectors, too, so that verification can check that they are
  /// unchanged.
  void download();

 private:
  struct Step {
    Pipeline& pipeline;
    Launch launch;
    DotScalars scalars;
    std::int64_t from,
        to;  // offsets in sums_ of its inputs and outputs
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
  std::unique_ptr<Buffer> sums_;  // of all steps; those of the last step are the result
  std::int64_t result_at_ = 0;
  std::vector<std::byte> host_sums_;
};

}  // namespace rung::metal
