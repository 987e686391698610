#pragma once
// An operand's copy in device memory.

#include <cstdint>

#include "backends/cuda/gpu.hpp"
#include "core/call.hpp"

namespace rung::cuda {

/// Where a rows x cols matrix with elements of that many bytes lies, without any guards. Lines that
/// are far apart are pieces of their own; those that are close together are one piece.
template <class Pointer>
Storage storage_of(const AnyMatrix<Pointer>& matrix, std::int64_t rows, std::int64_t cols,
                   std::int64_t element_bytes);

/// Memory of a device, freed at the end of its life. The context must be current, here and below.
class DeviceMemory {
 public:
  /// Throws std::bad_alloc and DriverError.
  DeviceMemory(Gpu& gpu, std::size_t bytes);
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  ~DeviceMemory();

  /// Null if it has no bytes.
  DevicePointer address() const { return address_; }
  void set_to_zero();

 private:
  Gpu& gpu_;
  int generation_;
  std::size_t bytes_;
  DevicePointer address_ = 0;
};

/// Device memory with the contents and, modulo 512 bytes, the alignment of a piece of host memory.
class DeviceMatrix {
 public:
  /// Copies `host`, in which `data` points. Throws std::bad_alloc and DriverError.
  DeviceMatrix(Gpu& gpu, const Storage& host, const void* data);

  /// Where `data` lies on the device; null if nothing does.
  DevicePointer data() const { return data_; }

  /// Copies it back.
  void download() const;

 private:
  Gpu& gpu_;
  Storage host_;
  DeviceMemory memory_;
  DevicePointer begin_ = 0;  // of host_
  DevicePointer data_ = 0;
};

}  // namespace rung::cuda
