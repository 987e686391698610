#pragma once
// Device memory for partial sums that blocks share: one workspace per stream of a context, and one
// per graph.

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <utility>
#include <vector>

#include "core/cuda_driver/api.hpp"
#include "device/cuda/entry/limits.hpp"
#include "library/cuda/capture.hpp"

namespace rung::cuda {

struct Workspace {
  DevicePointer data = 0;
  // Held while a call enqueues its launches: between a copy of an operand and the launch that reads
  // it, no other thread may enqueue work that overwrites the copy.
  std::mutex enqueuing;
  // One bit for each result slot after the workspace, set while a call on this stream uses it.
  std::atomic<std::uint64_t> slots_in_use = 0;
};

/// Slots after a workspace for results that are copied to the host: one per active call.
inline constexpr int result_slots = 64;
inline constexpr std::int64_t result_slot_bytes = 256;

class Workspaces {
 public:
  /// The fixed size of each workspace: enlarging one would have to wait for the work that uses it.
  static constexpr std::int64_t bytes = default_workspace_bytes;

  /// The workspace for the stream, or for the graph that the stream is captured into, allocated by
  /// the first call. Here and below, the context of the workspaces must be current. Throws
  /// rung::Error and std::bad_alloc.
  std::shared_ptr<Workspace> get(const DriverApi& api, Stream stream);

  /// Frees the stream's own workspace, if it has one, and those of destroyed graphs. Memory that
  /// cannot be freed remains for the next call. Throws rung::Error.
  void release(const DriverApi& api, Stream stream);

 private:
  /// A stream and, for the per-thread default stream, the thread.
  using Key = std::pair<Stream, const void*>;
  static Key key_of(Stream stream);

  /// A new stream may get the handle of a destroyed one whose work is still running; ids are never
  /// reused.
  struct OfStream {
    unsigned long long id = 0;
    std::shared_ptr<Workspace> workspace;
  };
  /// Each stream of a capture has its own workspace, because they may run concurrently.
  struct OfGraph : Workspace {
    std::uint64_t capture = 0;
    Stream stream = nullptr;
  };

  std::shared_ptr<Workspace> of_stream(const DriverApi& api, Stream stream);
  std::shared_ptr<Workspace> of_graph(const DriverApi& api, Stream stream,
                                      const StreamCapture& capture);
  std::shared_ptr<OfGraph> unused(const DriverApi& api);

  std::shared_mutex mutex_;
  std::map<Key, OfStream> of_streams_;
  std::vector<std::shared_ptr<OfGraph>> of_graphs_;
};

}  // namespace rung::cuda
