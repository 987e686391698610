#pragma once
// The operands of a gemm, copied to the device.

#include "backends/cuda/device_matrix.hpp"
#include "backends/cuda/operands.hpp"
#include "core/call.hpp"

namespace rung::cuda {

class GemmOperands final : public Operands {
 public:
  /// Copies the operands of a call; operands already on the device are used in place. The context
  /// must be current. Throws DriverError and std::bad_alloc.
  GemmOperands(Gpu& gpu, const GemmCall& call);

  const DeviceMatrix& a() const { return a_; }
  const DeviceMatrix& b() const { return b_; }
  const DeviceMatrix& c() const { return c_; }

  /// Copies C from the host again.
  void upload_c() const;
  void download() const override;

 private:
  DeviceMatrix a_, b_, c_;
  bool inputs_return_;
};

}  // namespace rung::cuda
