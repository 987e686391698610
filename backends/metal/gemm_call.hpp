#pragma once
// A gemm bound to a device: copied operands, compiled kernel and planned launch.

#include <cstddef>
#include <string_view>
#include <vector>

#include "backends/metal/device_operand.hpp"
#include "core/call.hpp"

namespace rung::metal {

/// The GemmScalars<Out> of a call whose operands are on the device, as bytes.
std::vector<std::byte> gemm_scalars(const GemmCall& call, const DeviceOperand& a,
                                    const DeviceOperand& b, const DeviceOperand& c);

class GemmCallOnDevice {
 public:
  /// Throws KernelError and std::bad_alloc.
  GemmCallOnDevice(Device& device, std::string_view id, const GemmRung& rung, const GemmCall& call,
                   int threads);

  void enqueue(std::int64_t calls);
  void wait() { device_.wait(); }
  std::optional<double> device_seconds() const { return device_.seconds(); }
  /// Copies C to the host. Copies A and B, too, so that verification can check that they are
  /// unchanged.
  void download() const;

 private:
  Device& device_;
  Pipeline& pipeline_;
  Launch launch_;
  int threads_;
  DeviceOperand a_, b_, c_;
  std::vector<std::byte> scalars_;  // GemmScalars<Out>
};

}  // namespace rung::metal
