#pragma once
// The queue of an Apple GPU.

#include <Metal/Metal.hpp>
#include <deque>
#include <optional>
#include <set>
#include <string>

namespace rung::metal {

/// Runs what is encoded, in order. One command buffer takes many dispatches, because the GPU takes
/// microseconds from one to the next; but not all of them, so that it begins while the host goes
/// on. Not thread-safe.
class CommandQueue {
 public:
  explicit CommandQueue(MTL::Device& device);
  ~CommandQueue();  // waits for what is committed
  CommandQueue(const CommandQueue&) = delete;
  CommandQueue& operator=(const CommandQueue&) = delete;

  /// Where the caller encodes one dispatch; `name` is what messages call it. Throws KernelError if
  /// an earlier one went wrong.
  MTL::ComputeCommandEncoder& next_dispatch(const std::string& name);
  /// Puts the zeroing of some bytes into the queue: offset and size are multiples of four.
  void fill_with_zeros(const MTL::Buffer& buffer, NS::Range range);
  /// Returns when all is done. Throws KernelError if something went wrong.
  void wait();

  /// From the GPU's start on the first dispatch to its end of the last one, by its own clock, in
  /// what the last wait() waited for; nothing if that was nothing.
  std::optional<double> seconds() const { return seconds_; }

 private:
  /// A command buffer, and what is in it.
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
  std::optional<double> start_, seconds_;              // of the GPU's clock; since the last wait()
  double end_ = 0;                                     // of what has finished so far
};

}  // namespace rung::metal
