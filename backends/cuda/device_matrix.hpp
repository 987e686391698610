#pragma once
// A copy of an operand in device memory.

#include <cstdint>

#include "backends/cuda/gpu.hpp"
#include "backends/host_storage.hpp"
#include "core/call.hpp"

namespace rung::cuda {

using rung::storage_of;

/// Device memory with the contents of a block of host memory and the same alignment modulo 512
/// bytes.
class DeviceMatrix {
 public:
  /// Copies `host`, which contains `data`. Throws std::bad_alloc and DriverError. Here and below,
  /// the context must be current.
  DeviceMatrix(Gpu& gpu, const Storage& host, const void* data);
  /// Wraps a matrix that is already on the device, without copying or owning it.
  DeviceMatrix(Gpu& gpu, DevicePointer data);
  DeviceMatrix(const DeviceMatrix&) = delete;
  DeviceMatrix& operator=(const DeviceMatrix&) = delete;
  ~DeviceMatrix();

  /// The device address that corresponds to `data`; null if `data` is null.
  DevicePointer data() const { return data_; }

  /// Copies the host's contents to the device again.
  void upload() const;
  /// Copies the device memory back to the host.
  void download() const;

 private:
  Gpu& gpu_;
  int generation_;
  Storage host_;
  DevicePointer allocated_ = 0;
  DevicePointer begin_ = 0;  // device address of host_
  DevicePointer data_ = 0;
};

}  // namespace rung::cuda
