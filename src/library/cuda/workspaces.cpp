#include "library/cuda/workspaces.hpp"

#include <mutex>

#include "device/cuda/split.cuh"
#include "library/cuda/driver.hpp"

namespace rung::cuda {

Workspaces::Key Workspaces::key_of(Stream stream) {
  thread_local const char this_thread = 0;
  if (stream == per_thread_stream()) return {stream, &this_thread};
  return {stream == legacy_stream() ? nullptr : stream, nullptr};
}

DevicePointer Workspaces::get(const DriverApi& api, Stream stream) {
  const Key key = key_of(stream);
  {
    const std::shared_lock lock(mutex_);
    if (const auto found = workspaces_.find(key); found != workspaces_.end()) return found->second;
  }
  const std::unique_lock lock(mutex_);
  DevicePointer& workspace = workspaces_[key];
  if (workspace != 0) return workspace;
  require(api, api.cuMemAlloc(&workspace, bytes), "cuMemAlloc");
  // Rungs count arrived blocks there, and leave zeros behind.
  require(api, api.cuMemsetD8Async(workspace, 0, meetings_bytes, stream), "cuMemsetD8Async");
  return workspace;
}

void Workspaces::release(const DriverApi& api, Stream stream) {
  const std::unique_lock lock(mutex_);
  const auto found = workspaces_.find(key_of(stream));
  if (found == workspaces_.end()) return;
  const DevicePointer workspace = found->second;
  workspaces_.erase(found);
  if (workspace != 0) require(api, api.cuMemFree(workspace), "cuMemFree");
}

}  // namespace rung::cuda
