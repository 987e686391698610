#pragma once
// Device memory that is needed only while a launch runs, allocated in stream order (CUDA Driver API
// reference, "Stream Ordered Memory Allocator").

#include <cstdint>
#include <mutex>

#include "core/cuda_driver/api.hpp"

namespace rung::cuda {

/// The library's memory pool of a device. It retains freed memory, so that calls after a
/// synchronization do not wait for the system. A pool outlives contexts and device resets.
class StreamPool {
 public:
  /// The pool of the device, created at its first use.
  static StreamPool& of(const DriverApi& api, Device device);

  explicit StreamPool(Device device) : device_(device) {}

  /// Allocates memory that later work in the stream may use. Throws rung::Error and std::bad_alloc.
  DevicePointer allocate(const DriverApi& api, std::int64_t bytes, Stream stream);
  /// Frees memory when the stream's current work is done.
  static void free(const DriverApi& api, DevicePointer pointer, Stream stream);

  /// Releases memory that no stream uses. Throws rung::Error.
  void trim(const DriverApi& api);

 private:
  MemoryPool pool(const DriverApi& api);

  const Device device_;
  std::mutex mutex_;
  MemoryPool pool_ = nullptr;
};

}  // namespace rung::cuda
