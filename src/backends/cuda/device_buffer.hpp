#pragma once
// Device memory to work in.

#include <cstddef>

#include "backends/cuda/gpu.hpp"

namespace rung::cuda {

class DeviceBuffer {
 public:
  /// Uninitialised. The context must be current. Throws std::bad_alloc and DriverError.
  DeviceBuffer(Gpu& gpu, std::size_t bytes);
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  ~DeviceBuffer();

  DevicePointer address() const { return address_; }
  void* data() const { return reinterpret_cast<void*>(address_); }
  std::size_t bytes() const { return bytes_; }
  /// False once a failed kernel has taken it.
  bool is_present() const { return generation_ == gpu_.generation(); }

 private:
  Gpu& gpu_;
  int generation_;
  std::size_t bytes_;
  DevicePointer address_ = 0;
};

}  // namespace rung::cuda
