// One mistake for each argument. The report names it, and the program exits with 1.

#include <Metal/Metal.hpp>
#include <cstdio>
#include <string>

namespace {

MTL::Device* device;
MTL::Library* library;
MTL::CommandQueue* queue;

MTL::ComputePipelineState* pipeline(const char* name) {
  MTL::Function* const function =
      library->newFunction(NS::String::string(name, NS::UTF8StringEncoding));
  MTL::ComputePipelineState* const made = device->newComputePipelineState(function, nullptr);
  function->release();
  return made;
}

/// Encodes a dispatch of 64 threads with one buffer.
void encode(MTL::ComputeCommandEncoder* encoder, MTL::ComputePipelineState* state,
            const MTL::Buffer* data) {
  encoder->setComputePipelineState(state);
  encoder->setBuffer(data, 0, 0);
  encoder->dispatchThreads(MTL::Size(64, 1, 1), MTL::Size(64, 1, 1));
}

void run(const std::string& fault) {
  MTL::ComputePipelineState* const fill = pipeline("fill");
  MTL::ComputePipelineState* const scale = pipeline("scale");
  const bool untracked = fault == "untracked";
  MTL::Buffer* const data = device->newBuffer(
      256, untracked ? MTL::ResourceHazardTrackingModeUntracked : MTL::ResourceStorageModeShared);
  MTL::CommandBuffer* const commands = queue->commandBuffer();
  if (fault == "concurrent" || fault == "barrier" || fault == "labelled") {
    if (fault == "labelled") data->setLabel(MTLSTR("all numbers"));
    auto* const encoder = commands->computeCommandEncoder(MTL::DispatchTypeConcurrent);
    encode(encoder, fill, data);
    if (fault == "barrier") encoder->memoryBarrier(MTL::BarrierScopeBuffers);
    encode(encoder, fill, data);
    encoder->endEncoding();
  } else if (fault == "untracked" || fault == "tracked") {
    auto* const first = commands->computeCommandEncoder();
    encode(first, fill, data);
    first->endEncoding();
    auto* const second = commands->computeCommandEncoder();
    encode(second, fill, data);
    second->endEncoding();
  } else if (fault == "beyond") {
    auto* const encoder = commands->computeCommandEncoder();
    MTL::ComputePipelineState* const beyond = pipeline("beyond");
    data->setLabel(NS::String::string("all numbers", NS::UTF8StringEncoding));
    encode(encoder, beyond, data);
    encoder->endEncoding();
    beyond->release();
  } else {
    auto* const encoder = commands->computeCommandEncoder();
    encoder->setComputePipelineState(scale);
    if (fault != "binding") encoder->setBuffer(data, 0, 0);
    const struct {
      unsigned n;
      float scale;
    } params = {64, 2};
    encoder->setBytes(&params, fault == "short" ? 4 : 8, 1);
    encoder->dispatchThreads(MTL::Size(64, 1, 1), MTL::Size(fault == "threads" ? 2048 : 64, 1, 1));
    if (fault != "open") encoder->endEncoding();
  }
  commands->commit();
  if (fault == "early") std::printf("%g\n", static_cast<float*>(data->contents())[0]);
  commands->waitUntilCompleted();
  if (NS::Error* const error = commands->error()) {
    std::printf("%s\n", error->localizedDescription()->utf8String());
  }
  if (fault == "twice") commands->commit();
  if (fault == "released") {
    MTL::Buffer* const other = device->newBuffer(4, 0);
    other->release();
    std::printf("%zu\n", static_cast<std::size_t>(other->length()));
  }
  if (fault != "leak") data->release();
  if (fault == "over") data->release();
  fill->release();
  scale->release();
}

}  // namespace

int main(int, char** arguments) {
  NS::AutoreleasePool* const pool = NS::AutoreleasePool::alloc()->init();
  device = MTL::CreateSystemDefaultDevice();
  library = device->newDefaultLibrary();
  queue = device->newCommandQueue();
  run(arguments[1]);
  queue->release();
  library->release();
  device->release();
  pool->release();
}
