#pragma once
// Device memory for the partial sums of rungs that share a result among blocks: one workspace for
// each stream of a context, and one for each graph.

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <utility>
#include <vector>

#include "backends/cuda/limits.hpp"
#include "cuda_driver/api.hpp"
#include "library/cuda/capture.hpp"

namespace rung::cuda {

struct Workspace {
  DevicePointer data = 0;
  // Held while a call enqueues its launches: between a copy of an operand and the launch that reads
  // it, no other thread may enqueue work that overwrites the copy.
  std::mutex enqueuing;
  // One bit for each slot behind the workspace that a call on this stream waits for.
  std::atomic<std::uint64_t> slots_in_use = 0;
};

/// The places behind a workspace for results that go to the host: one for each call under way.
inline constexpr int result_slots = 64;
inline constexpr std::int64_t result_slot_bytes = 256;

class Workspaces {
 public:
  /// The size of each, regardless of the request: a workspace that grew would have to wait for the
  /// work that uses it.
  static constexpr std::int64_t bytes = default_workspace_bytes;

  /// The context that they belong to must be current, here and below. Allocated at the first call
  /// for the stream, or for the graph that the stream is captured into. Throws rung::Error and
  /// std::bad_alloc.
  std::shared_ptr<Workspace> get(const DriverApi& api, Stream stream);

  /// Frees the stream's own workspace, if there is one, and those of graphs that are no more. What
  /// could not be freed stays for the next call. Throws rung::Error.
  void release(const DriverApi& api, Stream stream);

 private:
  /// A stream and, for the per-thread default stream, the thread.
  using Key = std::pair<Stream, const void*>;
  static Key key_of(Stream stream);

  /// The driver gives the handle of a destroyed stream to a new one, while work of the old one may
  /// still be running: an id is never used twice.
  struct OfStream {
    unsigned long long id = 0;
    std::shared_ptr<Workspace> workspace;
  };
  /// Every stream of a capture has its own: they may run at the same time.
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
