#pragma once
// A copy of an operand in device memory.

#include <cstdint>

#include "backends/cuda/gpu.hpp"
#include "backends/host_storage.hpp"
#include "core/call.hpp"

namespace rung::cuda {

using rung::storage_of;

/// Device memory with the contents and, modulo 512 bytes, the alignment of a block of host memory.
class DeviceMatrix {
 public:
  /// Copies `host`, into which `data` points. Throws std::bad_alloc and DriverError. Here and
  /// below, the context must be current.
  DeviceMatrix(Gpu& gpu, const Storage& host, const void* data);
  /// A matrix that is on the device already, which this neither copies nor owns.
  DeviceMatrix(Gpu& gpu, DevicePointer data);
  DeviceMatrix(const DeviceMatrix&) = delete;
  DeviceMatrix& operator=(const DeviceMatrix&) = delete;
  ~DeviceMatrix();

  /// The device address of `data`; null if it is null.
  DevicePointer data() const { return data_; }

  /// Copies the host's contents again.
  void upload() const;
  /// Copies it back to the host.
  void download() const;

 private:
  Gpu& gpu_;
  int generation_;
  Storage host_;
  DevicePointer allocated_ = 0;
  DevicePointer begin_ = 0;  // of host_
  DevicePointer data_ = 0;
};

}  // namespace rung::cuda
