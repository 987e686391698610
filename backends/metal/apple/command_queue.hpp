#pragma once
// The command queue of an Apple GPU.

#include <Metal/Metal.hpp>
#include <deque>
#include <optional>
#include <set>
#include <string>

namespace rung::metal {

/// Runs encoded commands in order. A command buffer holds many dispatches, because the GPU needs
/// microseconds between command buffers. It does not hold all of them, so that the GPU starts while
/// the host continues. Not thread-safe.
class CommandQueue {
 public:
  explicit CommandQueue(MTL::Device& device);
  ~CommandQueue();  // waits for committed work
  CommandQueue(const CommandQueue&) = delete;
  CommandQueue& operator=(const CommandQueue&) = delete;

  /// The encoder for one dispatch; `name` identifies the dispatch in messages. Throws KernelError
  /// if an earlier one failed.
  MTL::ComputeCommandEncoder& next_dispatch(const std::string& name);
  /// Enqueues zeroing of memory; offset and size must be multiples of four.
  void fill_with_zeros(const MTL::Buffer& buffer, NS::Range range);
  /// Waits for all work. Throws KernelError if a dispatch failed.
  void wait();

  /// The time from the GPU's start of the first dispatch to its end of the last one, by its own
  /// clock, for the work that the last wait() waited for; empty if there was no work.
  std::optional<double> seconds() const { return seconds_; }

 private:
  /// A command buffer, the kernels in it and the number of its dispatches.
  struct Work {
    NS::SharedPtr<MTL::CommandBuffer> commands;
    std::set<std::string> names;
    int dispatches = 0;
  };

  Work& open();
  void end_encoding();
  void commit();
  void finish_oldest();

  NS::SharedPtr<MTL::CommandQueue> queue_;
  Work open_;                                          // `commands` is null if nothing is encoded
  NS::SharedPtr<MTL::ComputeCommandEncoder> encoder_;  // encoder of open_, or null
  std::deque<Work> committed_;                         // oldest first
  std::optional<double> start_, seconds_;              // GPU time since the last wait()
  double end_ = 0;                                     // end of the work finished so far
};

}  // namespace rung::metal
