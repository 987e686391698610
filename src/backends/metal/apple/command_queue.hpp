#pragma once
// The queue of an Apple GPU.

#include <Metal/Metal.hpp>
#include <deque>
#include <optional>
#include <set>
#include <string>

namespace rung::metal {

/// Runs encoded commands in order. A command buffer holds many dispatches, because the GPU needs
/// microseconds between command buffers; but not all of them, so that it starts while the host
/// continues. Not thread-safe.
class CommandQueue {
 public:
  explicit CommandQueue(MTL::Device& device);
  ~CommandQueue();  // waits for committed work
  CommandQueue(const CommandQueue&) = delete;
  CommandQueue& operator=(const CommandQueue&) = delete;

  /// Where the caller encodes one dispatch; `name` identifies it in messages. Throws KernelError if
  /// an earlier one failed.
  MTL::ComputeCommandEncoder& next_dispatch(const std::string& name);
  /// Enqueues zeroing of memory; offset and size are multiples of four.
  void fill_with_zeros(const MTL::Buffer& buffer, NS::Range range);
  /// Waits for all work. Throws KernelError if any failed.
  void wait();

  /// The time from the GPU's start of the first dispatch to its end of the last one, by its own
  /// clock, for the work that the last wait() waited for; empty if there was none.
  std::optional<double> seconds() const { return seconds_; }

 private:
  /// A command buffer and its contents.
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
  Work open_;                                          // no commands if nothing is encoded
  NS::SharedPtr<MTL::ComputeCommandEncoder> encoder_;  // of open_; null if none
  std::deque<Work> committed_;                         // oldest first
  std::optional<double> start_, seconds_;              // by the GPU's clock, since the last wait()
  double end_ = 0;                                     // of the work finished so far
};

}  // namespace rung::metal
