#define NS_PRIVATE_IMPLEMENTATION
#define MTL_PRIVATE_IMPLEMENTATION
#include <iostream>

#include "metal-cpp/Metal/Metal.hpp"

int main() {
  auto* const pool = NS::AutoreleasePool::alloc()->init();
  MTL::Device* const device = MTL::CreateSystemDefaultDevice();
  MTL::Library* const library = device->newDefaultLibrary();
  MTL::Function* const function = library->newFunction(MTLSTR("add"));
  MTL::ComputePipelineState* const state = device->newComputePipelineState(function, nullptr);
  MTL::CommandQueue* const queue = device->newCommandQueue();
  const float values[] = {1, 2, 3, 4};
  MTL::Buffer* const a = device->newBuffer(values, sizeof values, MTL::ResourceStorageModeShared);
  MTL::Buffer* const c = device->newBuffer(sizeof values, MTL::ResourceStorageModeShared);
  MTL::CommandBuffer* const commands = queue->commandBuffer();
  MTL::ComputeCommandEncoder* const encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(state);
  encoder->setBuffer(a, 0, 0);
  encoder->setBuffer(a, 0, 1);
  encoder->setBuffer(c, 0, 2);
  encoder->dispatchThreads(MTL::Size(4, 1, 1), MTL::Size(4, 1, 1));
  encoder->endEncoding();
  commands->commit();
  commands->waitUntilCompleted();
  std::cout << static_cast<float*>(c->contents())[3] << "\n";
  c->release();
  a->release();
  queue->release();
  state->release();
  function->release();
  library->release();
  device->release();
  pool->release();
}
