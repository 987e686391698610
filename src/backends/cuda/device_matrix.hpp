#pragma once
// An operand's copy in device memory.

#include <cstdint>

#include "backends/cuda/gpu.hpp"
#include "backends/host_storage.hpp"
#include "core/call.hpp"

namespace rung::cuda {

using rung::storage_of;

/// Device memory with the contents and, modulo 512 bytes, the alignment of a piece of host memory.
class DeviceMatrix {
 public:
  /// Copies `host`, in which `data` points. Throws std::bad_alloc and DriverError. The context must
  /// be current, here and below.
  DeviceMatrix(Gpu& gpu, const Storage& host, const void* data);
  DeviceMatrix(const DeviceMatrix&) = delete;
  DeviceMatrix& operator=(const DeviceMatrix&) = delete;
  ~DeviceMatrix();

  /// Where `data` lies on the device; null if nothing does.
  DevicePointer data() const { return data_; }

  /// Copies the host's contents once more.
  void upload() const;
  /// Copies it back.
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
