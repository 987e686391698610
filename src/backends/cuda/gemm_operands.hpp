#pragma once
// The operands of a gemm, copied to the device.

#include <string>

#include "backends/cuda/device_matrix.hpp"
#include "backends/cuda/gpu.hpp"
#include "core/call.hpp"

namespace rung::cuda {

class GemmOperands {
 public:
  /// The context must be current. Throws DriverError and std::bad_alloc.
  GemmOperands(Gpu& gpu, const GemmCall& call);

  Gpu& gpu() const { return gpu_; }
  const DeviceMatrix& a() const { return a_; }
  const DeviceMatrix& b() const { return b_; }
  const DeviceMatrix& c() const { return c_; }

  /// Throws KernelError, naming who asks, if they were lost when a kernel failed.
  void require_present(const std::string& user) const;
  /// C once more from where it lies on the host.
  void upload_c() const;
  /// C to where it lies on the host. A and B too, where a guard tells that they may be written: so
  /// that somebody can see that they are as they were.
  void download() const;

 private:
  Gpu& gpu_;
  int generation_;
  DeviceMatrix a_, b_, c_;
  bool inputs_return_;
};

}  // namespace rung::cuda
