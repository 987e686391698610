#pragma once
// Device memory for the partial sums of rungs that share a result among blocks, one piece for each
// stream of a context.

#include <cstdint>
#include <map>
#include <shared_mutex>
#include <utility>

#include "vgpu/driver/api.hpp"

namespace rung::cuda {

class Workspaces {
 public:
  /// Of each, whatever is asked for: one that grew would have to wait for the work that uses it.
  static constexpr std::int64_t bytes = 32 << 20;

  /// The context that they belong to must be current, here and below. Allocated at the first call
  /// for the stream. Throws rung::Error and std::bad_alloc.
  DevicePointer get(const DriverApi& api, Stream stream);

  /// Does nothing if there is none. Throws rung::Error.
  void release(const DriverApi& api, Stream stream);

 private:
  /// A stream, and for the one that each thread has of its own, the thread.
  using Key = std::pair<Stream, const void*>;
  static Key key_of(Stream stream);

  std::shared_mutex mutex_;
  std::map<Key, DevicePointer> workspaces_;
};

}  // namespace rung::cuda
