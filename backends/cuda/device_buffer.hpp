#pragma once
// Device memory for scratch data.

#include <cstddef>

#include "backends/cuda/gpu.hpp"

namespace rung::cuda {

class DeviceBuffer {
 public:
  /// Allocates uninitialized memory, or none for 0 bytes. Here and below, the context must be
  /// current. Throws std::bad_alloc and DriverError.
  DeviceBuffer(Gpu& gpu, std::size_t bytes);
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  ~DeviceBuffer();

  DevicePointer address() const { return address_; }
  void* data() const { return reinterpret_cast<void*>(address_); }
  std::size_t bytes() const { return bytes_; }
  void set_to_zero();
  /// False if a failed kernel has destroyed the context that owned the memory.
  bool is_present() const { return generation_ == gpu_.generation(); }

 private:
  Gpu& gpu_;
  int generation_;
  std::size_t bytes_;
  DevicePointer address_ = 0;
};

}  // namespace rung::cuda
