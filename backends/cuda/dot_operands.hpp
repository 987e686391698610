#pragma once
// The vectors of a dot product or sum, copied to the device, and its result.

#include <cstddef>

#include "backends/cuda/device_buffer.hpp"
#include "backends/cuda/device_matrix.hpp"
#include "backends/cuda/operands.hpp"
#include "core/call.hpp"

namespace rung::cuda {

class DotOperands final : public Operands {
 public:
  /// download() writes the result to `result` on the host. The context must be current. Throws
  /// DriverError and std::bad_alloc.
  DotOperands(Gpu& gpu, const DotCall& call, void* result);

  /// The device addresses of element 0 of each vector, and of the result; y is null for a sum.
  const void* x() const { return reinterpret_cast<const void*>(x_.data()); }
  const void* y() const { return reinterpret_cast<const void*>(y_.data()); }
  const DeviceBuffer& result() const { return result_; }

  void download() const override;
  /// Downloads only the vectors, for a call whose result is already on the host.
  void download_vectors() const;
  void* host_result() const { return host_result_; }

 private:
  DeviceMatrix x_, y_;
  DeviceBuffer result_;
  void* host_result_;
  bool vectors_return_;
};

}  // namespace rung::cuda
