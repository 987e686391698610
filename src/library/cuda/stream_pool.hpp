#pragma once
// Device memory that is needed only while a launch runs, allocated in stream order (CUDA Driver API
// reference, "Stream Ordered Memory Allocator").

#include <cstdint>
#include <mutex>

#include "vgpu/driver/api.hpp"

namespace rung::cuda {

/// The library's own pool for a device. It keeps memory once allocated, so that a call after a
/// synchronisation does not wait for the system.
class StreamPool {
 public:
  explicit StreamPool(Device device) : device_(device) {}

  /// Memory that is valid from here on in the stream; free it there with cuMemFreeAsync. Throws
  /// rung::Error and std::bad_alloc.
  DevicePointer allocate(const DriverApi& api, std::int64_t bytes, Stream stream);

  /// Releases memory that no stream uses. Throws rung::Error.
  void trim(const DriverApi& api);

 private:
  MemoryPool pool(const DriverApi& api);

  const Device device_;
  std::mutex mutex_;
  MemoryPool pool_ = nullptr;
};

}  // namespace rung::cuda
