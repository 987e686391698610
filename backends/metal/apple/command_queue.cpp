#include "backends/metal/apple/command_queue.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <new>
#include <utility>

#include "backends/metal/apple/objects.hpp"
#include "core/kernel_error.hpp"

namespace rung::metal {
namespace {

constexpr int dispatches_per_buffer = 32;
constexpr std::size_t buffers_in_flight = 8;

}  // namespace

CommandQueue::CommandQueue(MTL::Device& device)
    : queue_(NS::TransferPtr(device.newCommandQueue())) {
  if (!queue_) throw std::bad_alloc();
}

CommandQueue::~CommandQueue() {
  end_encoding();
  for (const Work& work : committed_) work.commands->waitUntilCompleted();
}

CommandQueue::Work& CommandQueue::open() {
  if (open_.commands) return open_;
  MTL::CommandBuffer* const commands = queue_->commandBuffer();
  if (commands == nullptr) throw std::bad_alloc();
  open_.commands = NS::RetainPtr(commands);
  return open_;
}

MTL::ComputeCommandEncoder& CommandQueue::next_dispatch(const std::string& name) {
  if (open_.dispatches == dispatches_per_buffer) commit();
  const auto pool = autorelease_pool();
  Work& work = open();
  // An encoder runs its dispatches in order, and each sees the writes of the previous ones.
  if (!encoder_) {
    MTL::ComputeCommandEncoder* const encoder = work.commands->computeCommandEncoder();
    if (encoder == nullptr) throw std::bad_alloc();
    encoder_ = NS::RetainPtr(encoder);
  }
  work.names.insert(name);
  ++work.dispatches;
  return *encoder_.get();
}

void CommandQueue::fill_with_zeros(const MTL::Buffer& buffer, NS::Range range) {
  const auto pool = autorelease_pool();
  end_encoding();
  Work& work = open();
  work.names.insert("zeroing");
  MTL::BlitCommandEncoder* const encoder = work.commands->blitCommandEncoder();
  if (encoder == nullptr) throw std::bad_alloc();
  encoder->fillBuffer(&buffer, range, 0);
  encoder->endEncoding();
}

void CommandQueue::end_encoding() {
  if (!encoder_) return;
  encoder_->endEncoding();
  encoder_.reset();
}

void CommandQueue::commit() {
  if (!open_.commands) return;
  end_encoding();
  open_.commands->commit();
  committed_.push_back(std::exchange(open_, {}));
  if (committed_.size() > buffers_in_flight) finish_oldest();
}

void CommandQueue::finish_oldest() {
  const auto pool = autorelease_pool();
  const Work work = std::move(committed_.front());
  committed_.pop_front();
  work.commands->waitUntilCompleted();
  if (work.commands->status() == MTL::CommandBufferStatusError) {
    while (!committed_.empty()) {
      committed_.back().commands->waitUntilCompleted();
      committed_.pop_back();
    }
    start_.reset();
    seconds_.reset();
    throw KernelError(fmt::format("{}: the command buffer failed: {}", fmt::join(work.names, ", "),
                                  message_of(work.commands->error())));
  }
  if (!start_) start_ = work.commands->GPUStartTime();
  end_ = work.commands->GPUEndTime();
}

void CommandQueue::wait() {
  commit();
  while (!committed_.empty()) finish_oldest();
  seconds_ = start_ ? std::optional(end_ - *start_) : std::nullopt;
  start_.reset();
}

}  // namespace rung::metal
