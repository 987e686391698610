#pragma once
// Stream capture: operations are recorded instead of run. A graph replays them in the order of
// recording, which satisfies all dependencies of streams and events.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "core/cuda_driver/types.hpp"
#include "vgpu/driver/virtual_driver.hpp"

namespace rung::vgpu::driver {

struct ContextState;
struct GraphState;
struct StreamState;

/// An operation enqueued in a stream.
using Operation = std::function<void(ContextState&)>;

/// An operation of a graph. Operations are referred to by their index in the graph.
struct CapturedOperation {
  Operation run;
  std::vector<std::size_t> after;       // the operations that precede it
  std::optional<std::size_t> previous;  // the one of these that its stream ran last
  std::uint32_t site = 0;               // ProgramSource::here()
  std::vector<GraphEdge> programmatic;  // edges of a kernel from some of these
  bool is_host_function = false;
};

/// A vector clock: maps StreamState::id to the number of that stream's captured operations that are
/// known to precede. Streams destroyed before the capture ends are included.
using CaptureClock = std::map<std::uint64_t, std::size_t>;

/// A capture in progress, shared by its streams: the origin, and every stream that has waited for
/// an event of the capture.
struct Capture {
  const StreamState* origin = nullptr;
  std::uint64_t origin_id = 0;
  cuda::CaptureMode mode = cuda::CaptureMode::global;
  std::thread::id thread;  // the thread that began the capture
  std::uint64_t id = 0;    // never used twice
  std::shared_ptr<GraphState> graph;
  cuda::Graph handle = nullptr;  // handle of `graph`, once a caller has asked for it
  bool invalidated = false;
  std::vector<CapturedOperation> operations;
  std::map<std::uint64_t, CaptureClock> clocks;
  /// By stream: launches whose events, recorded by an attribute, its next operation waits for.
  std::map<std::uint64_t, std::vector<GraphEdge>> launches;

  void record(std::uint64_t stream, Operation run, std::uint32_t site) {
    CapturedOperation operation{std::move(run), {}, {}, site, std::move(launches[stream])};
    launches.erase(stream);
    for (const auto& [other, count] : clocks[stream]) {
      operation.after.push_back(count - 1);
      if (other == stream) operation.previous = count - 1;
    }
    operations.push_back(std::move(operation));
    clocks[stream][stream] = operations.size();
  }
  /// Orders everything recorded before the event before the next operation of `stream`.
  void join(std::uint64_t stream, const CaptureClock& event) {
    CaptureClock& clock = clocks[stream];
    for (const auto& [other, count] : event) {
      std::size_t& known = clock[other];
      if (known < count) known = count;
    }
  }
  /// True if the origin has waited for all work of the other streams.
  bool all_joined() const {
    const auto found = clocks.find(origin_id);
    for (const auto& [stream, clock] : clocks) {
      const auto own = clock.find(stream);
      if (stream == origin_id || own == clock.end()) continue;
      if (found == clocks.end()) return false;
      const auto known = found->second.find(stream);
      if (known == found->second.end() || known->second < own->second) return false;
    }
    return true;
  }
};

}  // namespace rung::vgpu::driver
