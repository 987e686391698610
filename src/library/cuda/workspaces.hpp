#pragma once
// Device memory for the partial sums of rungs in which blocks share a result, one workspace per
// stream of a context.

#include <cstdint>
#include <map>
#include <shared_mutex>
#include <utility>

#include "vgpu/driver/api.hpp"

namespace rung::cuda {

class Workspaces {
 public:
  /// The size of each, regardless of the request: a workspace that grew would have to wait for the
  /// work that uses it.
  static constexpr std::int64_t bytes = 32 << 20;

  /// Here and below, their context must be current. Allocates at the first call for the stream.
  /// Throws rung::Error and std::bad_alloc.
  DevicePointer get(const DriverApi& api, Stream stream);

  /// Does nothing if there is none. Throws rung::Error.
  void release(const DriverApi& api, Stream stream);

 private:
  /// A stream and, for the per-thread default stream, the thread.
  using Key = std::pair<Stream, const void*>;
  static Key key_of(Stream stream);

  std::shared_mutex mutex_;
  std::map<Key, DevicePointer> workspaces_;
};

}  // namespace rung::cuda
