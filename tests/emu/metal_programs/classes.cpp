// Each class of metal-cpp, used as its documentation says. The program prints "all right".

#define NS_PRIVATE_IMPLEMENTATION
#define MTL_PRIVATE_IMPLEMENTATION
#define CA_PRIVATE_IMPLEMENTATION
#include <simd/simd.h>
#include <Foundation/Foundation.hpp>
#include <Metal/Metal.hpp>
#include <QuartzCore/QuartzCore.hpp>
#include <atomic>
#include <cstdio>

namespace {

void expect(bool holds, const char* what, int line) {
  if (holds) return;
  std::printf("classes.cpp:%d: %s\n", line, what);
  std::exit(3);
}
#define EXPECT(condition) expect(condition, #condition, __LINE__)

NS::SharedPtr<MTL::Device> device;
NS::SharedPtr<MTL::Library> library;
NS::SharedPtr<MTL::CommandQueue> queue;

NS::SharedPtr<MTL::ComputePipelineState> pipeline(const char* name) {
  NS::Error* error = nullptr;
  auto function =
      NS::TransferPtr(library->newFunction(NS::String::string(name, NS::UTF8StringEncoding)));
  EXPECT(function.get() != nullptr);
  auto made = NS::TransferPtr(device->newComputePipelineState(function.get(), &error));
  EXPECT(made && error == nullptr);
  return made;
}

NS::SharedPtr<MTL::Buffer> buffer(std::size_t floats,
                                  MTL::ResourceOptions options = MTL::ResourceStorageModeShared) {
  return NS::TransferPtr(device->newBuffer(floats * sizeof(float), options));
}
float* data(const NS::SharedPtr<MTL::Buffer>& of) { return static_cast<float*>(of->contents()); }

void strings() {
  NS::String* const text = NS::String::string("Grüße", NS::UTF8StringEncoding);
  EXPECT(text->length() == 5 && text->lengthOfBytes(NS::UTF8StringEncoding) == 7);
  EXPECT(text->character(2) == 0xFC);
  EXPECT(text->isEqualToString(MTLSTR("Grüße")) && text->isEqual(MTLSTR("Grüße")));
  EXPECT(std::strcmp(text->stringByAppendingString(MTLSTR("!"))->utf8String(), "Grüße!") == 0);
  EXPECT(text->rangeOfString(MTLSTR("ß"), NS::LiteralSearch).Equal({3, 1}));
  const NS::Object* objects[] = {text, NS::Number::number(7)};
  NS::Array* const array = NS::Array::array(objects, 2);
  EXPECT(array->count() == 2 && array->object<NS::Number>(1)->intValue() == 7);
  NS::Dictionary* const dictionary = NS::Dictionary::dictionary(NS::Number::number(2.5), text);
  EXPECT(dictionary->object<NS::Number>(MTLSTR("Grüße"))->floatValue() == 2.5f);
  auto shared = NS::RetainPtr(text);
  const NS::UInteger before = text->retainCount();
  auto other = shared;
  EXPECT(text->retainCount() == before + 1);
}

void queries() {
  EXPECT(std::strcmp(device->name()->utf8String(), "Apple M1 Pro") == 0);
  EXPECT(device->supportsFamily(MTL::GPUFamilyApple7) &&
         !device->supportsFamily(MTL::GPUFamilyApple8));
  EXPECT(device->maxThreadsPerThreadgroup().width == 1024 && device->hasUnifiedMemory());
  EXPECT(device->maxThreadgroupMemoryLength() == 32768);
  device->setShouldMaximizeConcurrentCompilation(true);
  EXPECT(!device->supportsCounterSampling(MTL::CounterSamplingPointAtDispatchBoundary));
  EXPECT(device->counterSets()->count() == 0);
  EXPECT(MIN(NS::ProcessInfo::processInfo()->processIdentifier(), 0) == 0);  // MIN of Apple's SDK
  auto all = NS::TransferPtr(MTL::CopyAllDevices());
  EXPECT(all->count() == 1 && all->object<MTL::Device>(0) == device.get());
  EXPECT(library->functionNames()->count() == 9);
  EXPECT(library->newFunction(MTLSTR("none")) == nullptr);
}

void add() {
  auto state = pipeline("add");
  EXPECT(state->threadExecutionWidth() == 32 && state->maxTotalThreadsPerThreadgroup() == 1024);
  auto a = buffer(100), b = buffer(100), c = buffer(100, MTL::ResourceStorageModePrivate),
       d = buffer(100);
  for (int i = 0; i < 100; ++i) data(a)[i] = static_cast<float>(i), data(b)[i] = 1;
  EXPECT(data(d)[99] == 0 && c->storageMode() == MTL::StorageModePrivate);
  MTL::CommandBuffer* const commands = queue->commandBuffer();
  MTL::ComputeCommandEncoder* const encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(state.get());
  const MTL::Buffer* const both[] = {a.get(), b.get()};
  const NS::UInteger offsets[] = {0, 0};
  encoder->setBuffers(both, offsets, NS::Range(0, 2));
  encoder->setBuffer(c.get(), 0, 2);
  encoder->dispatchThreads(MTL::Size(100, 1, 1), MTL::Size(32, 1, 1));
  encoder->endEncoding();
  MTL::BlitCommandEncoder* const blit = commands->blitCommandEncoder();
  blit->copyFromBuffer(c.get(), 0, d.get(), 0, 400);
  blit->fillBuffer(d.get(), NS::Range(0, 4), 0);
  blit->endEncoding();
  std::atomic<bool> is_called = false;
  commands->addCompletedHandler([&](MTL::CommandBuffer* done) {
    is_called = done->status() == MTL::CommandBufferStatusCompleted;
  });
  commands->commit();
  commands->waitUntilCompleted();
  EXPECT(is_called && commands->status() == MTL::CommandBufferStatusCompleted);
  EXPECT(commands->error() == nullptr && commands->GPUEndTime() >= commands->GPUStartTime());
  EXPECT(data(d)[0] == 0 && data(d)[1] == 2 && data(d)[99] == 100);
}

/// A concurrent encoder with barriers, values by setBytes and from a buffer, and indirect arguments.
void concurrent() {
  struct {
    std::uint32_t n;
    float scale;
  } params = {64, 3};
  auto values = buffer(64), uniform = NS::TransferPtr(device->newBuffer(&params, sizeof params, 0));
  const std::uint32_t groups[] = {2, 1, 1};
  auto indirect = NS::TransferPtr(device->newBuffer(groups, sizeof groups, 0));
  auto fill = pipeline("fill"), scale = pipeline("scale");
  MTL::CommandBuffer* const commands = queue->commandBuffer();
  MTL::ComputeCommandEncoder* const encoder =
      commands->computeCommandEncoder(MTL::DispatchTypeConcurrent);
  encoder->setComputePipelineState(fill.get());
  encoder->setBuffer(values.get(), 0, 0);
  encoder->dispatchThreadgroups(indirect.get(), 0, MTL::Size(32, 1, 1));
  encoder->memoryBarrier(MTL::BarrierScopeBuffers);
  encoder->setComputePipelineState(scale.get());
  encoder->setBytes(&params, sizeof params, 1);
  encoder->dispatchThreadgroups(MTL::Size(2, 1, 1), MTL::Size(32, 1, 1));
  const MTL::Resource* const written[] = {values.get()};
  encoder->memoryBarrier(written, 1);
  encoder->setBuffer(uniform.get(), 0, 1);
  encoder->dispatchThreads(MTL::Size(64, 1, 1), MTL::Size(32, 1, 1));
  encoder->endEncoding();
  commands->commit();
  commands->waitUntilCompleted();
  EXPECT(data(values)[0] == 63 && data(values)[63] == 63);
}

void constants() {
  auto values = NS::TransferPtr(MTL::FunctionConstantValues::alloc()->init());
  const std::uint32_t factor = 5;
  const bool negate = true;
  values->setConstantValue(&factor, MTL::DataTypeUInt, NS::UInteger(0));
  values->setConstantValue(&negate, MTL::DataTypeBool, MTLSTR("negate"));
  NS::Error* error = nullptr;
  auto function = NS::TransferPtr(library->newFunction(MTLSTR("constants"), values.get(), &error));
  auto descriptor = NS::TransferPtr(MTL::ComputePipelineDescriptor::alloc()->init());
  descriptor->setComputeFunction(function.get());
  auto state = NS::TransferPtr(
      device->newComputePipelineState(descriptor.get(), MTL::PipelineOptionNone, nullptr, &error));
  EXPECT(state.get() != nullptr);
  auto result = buffer(1);
  MTL::CommandBuffer* const commands = queue->commandBuffer();
  MTL::ComputeCommandEncoder* const encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(state.get());
  encoder->setBuffer(result.get(), 0, 0);
  encoder->dispatchThreads(MTL::Size(1, 1, 1), MTL::Size(1, 1, 1));
  encoder->endEncoding();
  commands->commit();
  commands->waitUntilCompleted();
  EXPECT(*static_cast<int*>(result->contents()) == -5);
}

void reflection() {
  auto function = NS::TransferPtr(library->newFunction(MTLSTR("sums")));
  MTL::ComputePipelineReflection* found = nullptr;
  auto state = NS::TransferPtr(device->newComputePipelineState(
      function.get(), MTL::PipelineOptionBindingInfo, &found, nullptr));
  EXPECT(state.get() != nullptr && found != nullptr && found->bindings()->count() == 3);
  const auto* const data = found->bindings()->object<MTL::BufferBinding>(0);
  EXPECT(data->name()->isEqualToString(MTLSTR("data")) && data->index() == 0);
  EXPECT(data->type() == MTL::BindingTypeBuffer && data->bufferDataSize() == sizeof(float));
  EXPECT(data->access() == MTL::BindingAccessReadOnly);
  EXPECT(found->bindings()->object<MTL::Binding>(1)->access() == MTL::BindingAccessReadWrite);
  const auto* const shared = found->arguments()->object<MTL::Argument>(2);
  EXPECT(shared->name()->isEqualToString(MTLSTR("shared")) && shared->index() == 0);
  EXPECT(shared->type() == MTL::ArgumentTypeThreadgroupMemory);

  auto constants = NS::TransferPtr(library->newFunction(MTLSTR("constants")));
  NS::Dictionary* const all = constants->functionConstantsDictionary();
  NS::Enumerator<NS::String>* const names = all->keyEnumerator<NS::String>();
  std::size_t count = 0;
  for (NS::String* name = names->nextObject(); name != nullptr; name = names->nextObject()) {
    const bool is_factor = name->isEqualToString(MTLSTR("factor"));
    EXPECT(all->object<MTL::FunctionConstant>(name)->type() ==
           (is_factor ? MTL::DataTypeUInt : MTL::DataTypeBool));
    ++count;
  }
  EXPECT(count == 2);
}

void matrices() {
  const simd_float3x3 m =
      simd_matrix(simd_float3{0, 2, 1}, simd_float3{1, 0, 0}, simd_float3{3, 0, 1});
  const simd_float3x3 one = simd_mul(m, simd::inverse(m));
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) EXPECT(one.columns[i][j] == (i == j ? 1 : 0));
  }
  EXPECT(simd_matrix_from_rows(simd_float2{1, 2}, simd_float2{3, 4}).columns[0].y == 3);
}

/// Pointers in an argument buffer, threadgroup memory by the dispatch, memory of the program's own.
void arguments() {
  static float own[16384 / sizeof(float)] __attribute__((aligned(16384)));
  auto a = NS::TransferPtr(device->newBuffer(own, sizeof own, 0, nullptr));
  auto b = buffer(64), sums = buffer(2);
  for (int i = 0; i < 64; ++i) own[i] = 1;
  auto function = NS::TransferPtr(library->newFunction(MTLSTR("through")));
  auto arguments = NS::TransferPtr(function->newArgumentEncoder(0));
  auto table = NS::TransferPtr(device->newBuffer(arguments->encodedLength(), 0));
  arguments->setArgumentBuffer(table.get(), 0);
  arguments->setBuffer(a.get(), 0, 0);
  arguments->setBuffer(b.get(), 0, 1);
  auto through = pipeline("through"), sum = pipeline("sums");
  MTL::CommandBuffer* const commands = queue->commandBuffer();
  MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(through.get());
  encoder->setBuffer(table.get(), 0, 0);
  encoder->useResource(a.get(), MTL::ResourceUsageRead);
  encoder->useResource(b.get(), MTL::ResourceUsageWrite);
  encoder->dispatchThreads(MTL::Size(64, 1, 1), MTL::Size(32, 1, 1));
  encoder->endEncoding();
  encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(sum.get());
  encoder->setBuffer(b.get(), 0, 0);
  encoder->setBuffer(sums.get(), 0, 1);
  encoder->setThreadgroupMemoryLength(32 * sizeof(float), 0);
  encoder->dispatchThreadgroups(MTL::Size(2, 1, 1), MTL::Size(32, 1, 1));
  encoder->endEncoding();
  const auto none = pipeline("without_memory");
  const unsigned count = 0;
  encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(none.get());
  encoder->setBuffer(a.get(), 0, 0);
  encoder->setBytes(&count, sizeof count, 1);
  encoder->setThreadgroupMemoryLength(0, 0);
  encoder->dispatchThreadgroups(MTL::Size(1, 1, 1), MTL::Size(32, 1, 1));
  encoder->endEncoding();
  commands->commit();
  commands->waitUntilCompleted();
  EXPECT(data(sums)[0] == 64 && data(sums)[1] == 64);
  EXPECT(data(a)[31] == 2);
}

/// A capture fails, as on a Mac that does not allow it.
void captures() {
  auto descriptor = NS::TransferPtr(MTL::CaptureDescriptor::alloc()->init());
  descriptor->setCaptureObject(device.get());
  descriptor->setDestination(MTL::CaptureDestinationGPUTraceDocument);
  NS::Error* error = nullptr;
  EXPECT(!MTL::CaptureManager::sharedCaptureManager()->startCapture(descriptor.get(), &error));
  EXPECT(error != nullptr && error->code() == 1);
  auto scope =
      NS::TransferPtr(MTL::CaptureManager::sharedCaptureManager()->newCaptureScope(queue.get()));
  scope->beginScope();
  scope->endScope();
}

/// Untracked resources of a heap, ordered by a fence, and by events of two queues.
void heaps() {
  auto descriptor = NS::TransferPtr(MTL::HeapDescriptor::alloc()->init());
  descriptor->setSize(65536);
  descriptor->setStorageMode(MTL::StorageModeShared);
  auto heap = NS::TransferPtr(device->newHeap(descriptor.get()));
  auto x = NS::TransferPtr(heap->newBuffer(256, 0)), y = NS::TransferPtr(heap->newBuffer(256, 0));
  EXPECT(x->hazardTrackingMode() == MTL::HazardTrackingModeUntracked && heap->usedSize() == 512);
  auto fill = pipeline("fill"), add = pipeline("add");
  auto fence = NS::TransferPtr(device->newFence());
  auto event = NS::TransferPtr(device->newEvent());
  auto shared = NS::TransferPtr(device->newSharedEvent());
  auto other = NS::TransferPtr(device->newCommandQueue());
  MTL::CommandBuffer* const second = other->commandBuffer();  // waits for the first
  second->encodeWait(event.get(), 1);
  MTL::ComputeCommandEncoder* encoder = second->computeCommandEncoder();
  encoder->setComputePipelineState(add.get());
  encoder->setBuffer(x.get(), 0, 0);
  encoder->setBuffer(x.get(), 0, 1);
  encoder->setBuffer(y.get(), 0, 2);
  encoder->dispatchThreads(MTL::Size(64, 1, 1), MTL::Size(64, 1, 1));
  encoder->endEncoding();
  second->encodeSignalEvent(shared.get(), 9);
  second->commit();
  EXPECT(second->status() == MTL::CommandBufferStatusCommitted);
  MTL::CommandBuffer* const first = queue->commandBuffer();
  for (const bool waits : {false, true}) {
    encoder = first->computeCommandEncoder();
    if (waits) encoder->waitForFence(fence.get());
    encoder->setComputePipelineState(fill.get());
    encoder->setBuffer(x.get(), 0, 0);
    encoder->dispatchThreads(MTL::Size(64, 1, 1), MTL::Size(64, 1, 1));
    encoder->updateFence(fence.get());
    encoder->endEncoding();
  }
  first->encodeSignalEvent(event.get(), 1);
  first->commit();
  EXPECT(shared->waitUntilSignaledValue(9, 1000) && shared->signaledValue() == 9);
  EXPECT(data(y)[63] == 14);
  auto set_descriptor = NS::TransferPtr(MTL::ResidencySetDescriptor::alloc()->init());
  auto set = NS::TransferPtr(device->newResidencySet(set_descriptor.get(), nullptr));
  const MTL::Allocation* const allocation = heap.get();
  set->addAllocation(allocation);
  set->commit();
  queue->addResidencySet(set.get());
  EXPECT(set->allocationCount() == 1 && set->allocatedSize() == 65536);
}

void textures() {
  auto* const descriptor =
      MTL::TextureDescriptor::texture2DDescriptor(MTL::PixelFormatRGBA8Unorm, 4, 3, false);
  descriptor->setUsage(MTL::TextureUsageShaderRead | MTL::TextureUsageShaderWrite);
  auto from = NS::TransferPtr(device->newTexture(descriptor));
  auto to = NS::TransferPtr(device->newTexture(descriptor));
  std::uint8_t pixels[48], inverted[48];
  for (int i = 0; i < 48; ++i) pixels[i] = static_cast<std::uint8_t>(5 * i);
  from->replaceRegion(MTL::Region::Make2D(0, 0, 4, 3), 0, pixels, 16);
  auto invert = pipeline("invert");
  MTL::CommandBuffer* const commands = queue->commandBuffer();
  MTL::ComputeCommandEncoder* const encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(invert.get());
  encoder->setTexture(from.get(), 0);
  encoder->setTexture(to.get(), 1);
  encoder->dispatchThreads(MTL::Size(4, 3, 1), MTL::Size(4, 3, 1));
  encoder->endEncoding();
  commands->commit();
  commands->waitUntilCompleted();
  to->getBytes(inverted, 16, MTL::Region::Make2D(0, 0, 4, 3), 0);
  for (int i = 0; i < 48; ++i) EXPECT(inverted[i] == 255 - pixels[i]);
}

void errors() {
  NS::Error* error = nullptr;
  MTL::Library* none =
      device->newLibrary(MTLSTR("kernel void k(device float* x) { x[0] = y; }"), nullptr, &error);
  EXPECT(none == nullptr && error->code() == MTL::LibraryErrorCompileFailure);
  EXPECT(std::strstr(error->localizedDescription()->utf8String(), "program_source:1:"));
  none = device->newLibrary(MTLSTR("missing.metallib"), &error);
  EXPECT(none == nullptr && error->code() == MTL::LibraryErrorFileNotFound);
  EXPECT(error->domain()->isEqualToString(MTLSTR("MTLLibraryErrorDomain")));
}

void from_source() {
  auto options = NS::TransferPtr(MTL::CompileOptions::alloc()->init());
  options->setPreprocessorMacros(NS::Dictionary::dictionary(MTLSTR("41"), MTLSTR("VALUE")));
  NS::Error* error = nullptr;
  auto made = NS::TransferPtr(device->newLibrary(
      MTLSTR("kernel void k(device int* x) { x[0] = VALUE + 1; }"), options.get(), &error));
  EXPECT(made.get() != nullptr);
  auto function = NS::TransferPtr(made->newFunction(MTLSTR("k")));
  auto state = NS::TransferPtr(device->newComputePipelineState(function.get(), &error));
  auto result = buffer(1);
  MTL::CommandBuffer* const commands = queue->commandBuffer();
  MTL::ComputeCommandEncoder* const encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(state.get());
  encoder->setBuffer(result.get(), 0, 0);
  encoder->dispatchThreadgroups(MTL::Size(1, 1, 1), MTL::Size(1, 1, 1));
  encoder->endEncoding();
  dispatch_semaphore_t done = dispatch_semaphore_create(0);
  commands->addCompletedHandler([&](MTL::CommandBuffer*) { dispatch_semaphore_signal(done); });
  commands->commit();
  dispatch_semaphore_wait(done, DISPATCH_TIME_FOREVER);
  EXPECT(*static_cast<int*>(result->contents()) == 42);
  dispatch_release(done);
}

}  // namespace

int main() {
  NS::AutoreleasePool* const pool = NS::AutoreleasePool::alloc()->init();
  device = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
  library = NS::TransferPtr(device->newDefaultLibrary());
  EXPECT(library.get() != nullptr);
  queue = NS::TransferPtr(device->newCommandQueue());
  for (const auto& part : {strings, queries, add, concurrent, constants, reflection, matrices,
                           arguments, captures, heaps, textures, errors, from_source}) {
    part();
  }
  pool->release();
  std::printf("all right\n");
}
