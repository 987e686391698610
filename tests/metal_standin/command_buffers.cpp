// Queue, command buffers and encoders of the stand-in. Encoded work is stored as functions, which
// run when the program waits for it.

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>

#include "standin.hpp"
#include "virtual_metal.hpp"

namespace vgpu = rung::vgpu;

namespace metal_standin {
namespace {

using Bytes = std::vector<std::byte>;

vgpu::Dim3 dim(MTL::Size size) {
  if (size.width * size.height * size.depth == 0) misuse("a dispatch of nothing");
  return {static_cast<std::uint32_t>(size.width), static_cast<std::uint32_t>(size.height),
          static_cast<std::uint32_t>(size.depth)};
}

/// Retains a buffer as long as it is in use, as a command buffer does with the objects that it
/// refers to.
NS::SharedPtr<VirtualBuffer> keep(const MTL::Buffer* buffer) {
  return NS::RetainPtr(static_cast<VirtualBuffer*>(const_cast<MTL::Buffer*>(buffer)));
}

class Queue final : public MTL::CommandQueue {
 public:
  explicit Queue(DevicePtr device) : device_(std::move(device)) {}

  MTL::CommandBuffer* commandBuffer() override;
  VirtualDevice& device() { return *device_.get(); }
  void add(MTL::CommandBuffer& committed) { committed_.push_back(NS::RetainPtr(&committed)); }
  /// Runs committed command buffers in order, up to and including `last`.
  void run_until(const MTL::CommandBuffer& last);

  double clock() const { return clock_; }
  void advance_clock() { clock_ += command_seconds; }

 private:
  DevicePtr device_;
  std::deque<NS::SharedPtr<MTL::CommandBuffer>> committed_;
  double clock_ = 4096;  // the GPU's clock, in seconds, as if it had been running for a while
};

class Commands final : public MTL::CommandBuffer {
 public:
  explicit Commands(NS::SharedPtr<Queue> queue) : queue_(std::move(queue)) {}

  MTL::ComputeCommandEncoder* computeCommandEncoder() override;
  MTL::BlitCommandEncoder* blitCommandEncoder() override;
  void commit() override;
  void waitUntilCompleted() override;
  MTL::CommandBufferStatus status() const override { return status_; }
  NS::Error* error() const override {
    return failure_.empty() ? nullptr : NS::Error::saying(failure_);
  }
  double GPUStartTime() const override { return start_; }
  double GPUEndTime() const override { return end_; }

  VirtualDevice& device() { return queue_->device(); }
  void add(std::function<void()> work) { work_.push_back(std::move(work)); }
  void begin_encoder();
  void end_encoder() { encoding_ = false; }
  void run();

 private:
  NS::SharedPtr<Queue> queue_;
  std::vector<std::function<void()>> work_;
  bool encoding_ = false;
  MTL::CommandBufferStatus status_ = MTL::CommandBufferStatusNotEnqueued;
  std::string failure_;
  double start_ = 0, end_ = 0;
};

using CommandsPtr = NS::SharedPtr<Commands>;

class ComputeEncoder final : public MTL::ComputeCommandEncoder {
 public:
  explicit ComputeEncoder(CommandsPtr commands) : commands_(std::move(commands)) {}
  ~ComputeEncoder() override {
    if (!ended_) misuse("an encoder is gone before its end");
  }

  void setComputePipelineState(const MTL::ComputePipelineState* state) override {
    auto* const known = const_cast<MTL::ComputePipelineState*>(state);
    pipeline_ = NS::RetainPtr(static_cast<VirtualPipeline*>(known));
  }
  void setBytes(const void* bytes, NS::UInteger length, NS::UInteger index) override;
  void setBuffer(const MTL::Buffer* buffer, NS::UInteger offset, NS::UInteger index) override;
  void setThreadgroupMemoryLength(NS::UInteger length, NS::UInteger index) override;
  void dispatchThreadgroups(MTL::Size threadgroups, MTL::Size threads) override;
  void endEncoding() override {
    commands_->end_encoder();
    ended_ = true;
  }

 private:
  struct Argument {
    Bytes bytes;  // of the address, for a buffer
    NS::SharedPtr<VirtualBuffer> buffer;
  };

  Bytes parameters() const;

  CommandsPtr commands_;
  bool ended_ = false;
  NS::SharedPtr<VirtualPipeline> pipeline_;
  std::map<NS::UInteger, Argument> arguments_;
  rung::metal::ThreadgroupMemory threadgroup_memory_{};
};

class BlitEncoder final : public MTL::BlitCommandEncoder {
 public:
  explicit BlitEncoder(CommandsPtr commands) : commands_(std::move(commands)) {}

  void fillBuffer(const MTL::Buffer* buffer, NS::Range range, std::uint8_t value) override {
    if (range.location % 4 != 0 || range.length % 4 != 0) misuse("a fill of parts of words");
    commands_->add([kept = keep(buffer), range, value] {
      std::memset(static_cast<char*>(kept->contents()) + range.location, value, range.length);
    });
  }
  void endEncoding() override { commands_->end_encoder(); }

 private:
  CommandsPtr commands_;
};

MTL::CommandBuffer* Queue::commandBuffer() {
  return (new Commands(NS::RetainPtr(this)))->autorelease();
}

void Queue::run_until(const MTL::CommandBuffer& last) {
  for (bool reached = false; !reached && !committed_.empty(); committed_.pop_front()) {
    static_cast<Commands&>(*committed_.front().get()).run();
    reached = committed_.front().get() == &last;
  }
}

void Commands::begin_encoder() {
  if (encoding_) misuse("two encoders at once");
  if (status_ != MTL::CommandBufferStatusNotEnqueued) misuse("an encoder after commit");
  encoding_ = true;
}

MTL::ComputeCommandEncoder* Commands::computeCommandEncoder() {
  begin_encoder();
  return (new ComputeEncoder(NS::RetainPtr(this)))->autorelease();
}

MTL::BlitCommandEncoder* Commands::blitCommandEncoder() {
  begin_encoder();
  return (new BlitEncoder(NS::RetainPtr(this)))->autorelease();
}

void Commands::commit() {
  if (encoding_) misuse("a commit before the encoder's end");
  if (status_ != MTL::CommandBufferStatusNotEnqueued) misuse("a second commit");
  status_ = MTL::CommandBufferStatusCommitted;
  queue_->add(*this);
}

void Commands::waitUntilCompleted() {
  if (status_ == MTL::CommandBufferStatusNotEnqueued) misuse("a wait before commit");
  if (status_ == MTL::CommandBufferStatusCommitted) queue_->run_until(*this);
}

void Commands::run() {
  start_ = queue_->clock();
  status_ = MTL::CommandBufferStatusCompleted;
  try {
    for (const auto& work : work_) {
      work();
      queue_->advance_clock();
    }
  } catch (const std::exception& error) {
    failure_ = error.what();
    status_ = MTL::CommandBufferStatusError;
  }
  work_.clear();
  end_ = queue_->clock();
}

void ComputeEncoder::setBytes(const void* bytes, NS::UInteger length, NS::UInteger index) {
  if (length == 0 || length > 4096) misuse("setBytes takes 1 to 4096 bytes");
  const auto* const from = static_cast<const std::byte*>(bytes);
  arguments_[index] = {Bytes(from, from + length), {}};
}

void ComputeEncoder::setBuffer(const MTL::Buffer* buffer, NS::UInteger offset, NS::UInteger index) {
  if (buffer == nullptr) misuse("no buffer");
  Argument& argument = arguments_[index];
  argument.buffer = keep(buffer);
  const std::uint64_t address = argument.buffer->address() + offset;
  argument.bytes.resize(sizeof address);
  std::memcpy(argument.bytes.data(), &address, sizeof address);
}

void ComputeEncoder::setThreadgroupMemoryLength(NS::UInteger length, NS::UInteger index) {
  if (length % 16 != 0) misuse("threadgroup memory comes by 16 bytes");
  if (index >= threadgroup_memory_.size()) misuse("there are 31 arguments of threadgroup memory");
  threadgroup_memory_[index] = static_cast<std::int64_t>(length);
}

/// The entry's parameters are the kernel's buffers, in order.
Bytes ComputeEncoder::parameters() const {
  const vgpu::KernelInfo& kernel = pipeline_->info();
  Bytes all(kernel.parameter_bytes);
  for (NS::UInteger i = 0; i < kernel.parameters.size(); ++i) {
    const auto found = arguments_.find(i);
    if (found == arguments_.end()) misuse("buffer " + std::to_string(i) + " is not bound");
    const Bytes& bytes = found->second.bytes;
    const auto& [offset, size] = kernel.parameters[i];
    std::memcpy(all.data() + offset, bytes.data(), std::min(size, bytes.size()));
  }
  return all;
}

void ComputeEncoder::dispatchThreadgroups(MTL::Size threadgroups, MTL::Size threads) {
  if (ended_ || !pipeline_) misuse("a dispatch without encoder or pipeline");
  vgpu::LaunchOptions options;
  options.grid = dim(threadgroups);
  options.block = dim(threads);
  commands_->add([device = &commands_->device(), pipeline = pipeline_, arguments = arguments_,
                  parameters = parameters(), memory = threadgroup_memory_, options] {
    device->launch(*pipeline->function.get(), options, memory, parameters);
  });
}

}  // namespace

MTL::CommandQueue* new_queue(DevicePtr device) { return new Queue(std::move(device)); }

}  // namespace metal_standin
