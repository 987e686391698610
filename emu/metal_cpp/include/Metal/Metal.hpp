#pragma once
// Metal by metal-cpp's names, as far as programs that compute use it. Declarations and values follow
// Apple's documentation of Metal. Objects are those of emu/metal_cpp/*.cpp: the functions here cast
// `this` to them.

#include "Block.h"
#include "Foundation/Foundation.hpp"
#include "dispatch/dispatch.h"
#include "rung/metal_types.hpp"

#pragma GCC visibility push(default)
namespace MTL {

class BinaryArchive;
class BinaryArchiveDescriptor;
class Buffer;
class CommandBuffer;
class CommandQueue;
class ComputeCommandEncoder;
class ComputePipelineState;
class Device;
class Event;
class Fence;
class Function;
class Heap;
class Library;
class ResidencySet;
class SamplerState;
class SharedEvent;
class Texture;
class TextureDescriptor;

class CompileOptions : public NS::Copying<CompileOptions> {
 public:
  static CompileOptions* alloc();
  CompileOptions* init();
  NS::Dictionary* preprocessorMacros() const;
  void setPreprocessorMacros(const NS::Dictionary* macros);
  bool fastMathEnabled() const;
  void setFastMathEnabled(bool enabled);
  MathMode mathMode() const;
  void setMathMode(MathMode mode);
  void setMathFloatingPointFunctions(MathFloatingPointFunctions) {}
  LanguageVersion languageVersion() const;
  void setLanguageVersion(LanguageVersion version);
  void setOptimizationLevel(LibraryOptimizationLevel) {}
  void setPreserveInvariance(bool) {}
  void setLibraryType(LibraryType) {}
  void setInstallName(const NS::String*) {}
  void setLibraries(const NS::Array*) {}
  void setAllowReferencingUndefinedSymbols(bool) {}
  void setEnableLogging(bool) {}
};

class FunctionConstantValues : public NS::Copying<FunctionConstantValues> {
 public:
  static FunctionConstantValues* alloc();
  FunctionConstantValues* init();
  void setConstantValue(const void* value, DataType type, UInteger index);
  void setConstantValues(const void* values, DataType type, NS::Range range);
  void setConstantValue(const void* value, DataType type, const NS::String* name);
  void reset();
};

class FunctionConstant : public NS::Referencing<FunctionConstant> {
 public:
  NS::String* name() const;
  UInteger index() const;
  DataType type() const;
  bool required() const;
};

class FunctionDescriptor : public NS::Copying<FunctionDescriptor> {
 public:
  static FunctionDescriptor* alloc();
  static FunctionDescriptor* functionDescriptor();
  FunctionDescriptor* init();
  NS::String* name() const;
  void setName(const NS::String* name);
  NS::String* specializedName() const;
  void setSpecializedName(const NS::String* name);
  const FunctionConstantValues* constantValues() const;
  void setConstantValues(const FunctionConstantValues* values);
};

/// A resource or a heap.
class Allocation : public NS::Referencing<Allocation> {};
class Resource : public NS::Referencing<Resource, Allocation> {
 public:
  NS::String* label() const;
  void setLabel(const NS::String* label);
  Device* device() const;
  CPUCacheMode cpuCacheMode() const;
  StorageMode storageMode() const;
  HazardTrackingMode hazardTrackingMode() const;
  ResourceOptions resourceOptions() const;
  PurgeableState setPurgeableState(PurgeableState) { return PurgeableStateNonVolatile; }
  Heap* heap() const;
  UInteger heapOffset() const;
  UInteger allocatedSize() const;
  void makeAliasable();
  bool isAliasable() const;
};

class Buffer : public NS::Referencing<Buffer, Resource> {
 public:
  UInteger length() const;
  void* contents();
  void didModifyRange(NS::Range range);
  void addDebugMarker(const NS::String*, NS::Range) {}
  void removeAllDebugMarkers() {}
  GPUAddress gpuAddress() const;
  Texture* newTexture(const TextureDescriptor* descriptor, UInteger offset, UInteger bytes_per_row);
};

class TextureDescriptor : public NS::Copying<TextureDescriptor> {
 public:
  static TextureDescriptor* texture2DDescriptor(PixelFormat format, UInteger width, UInteger height,
                                                bool mipmapped);
  static TextureDescriptor* alloc();
  TextureDescriptor* init();
  TextureType textureType() const;
  void setTextureType(TextureType type);
  PixelFormat pixelFormat() const;
  void setPixelFormat(PixelFormat format);
  UInteger width() const;
  void setWidth(UInteger width);
  UInteger height() const;
  void setHeight(UInteger height);
  UInteger depth() const;
  void setDepth(UInteger depth);
  UInteger arrayLength() const;
  void setArrayLength(UInteger length);
  void setMipmapLevelCount(UInteger count);
  void setSampleCount(UInteger) {}
  TextureUsage usage() const;
  void setUsage(TextureUsage usage);
  StorageMode storageMode() const;
  void setStorageMode(StorageMode mode);
  void setCpuCacheMode(CPUCacheMode) {}
  void setResourceOptions(ResourceOptions options);
  void setHazardTrackingMode(HazardTrackingMode mode);
};

class Texture : public NS::Referencing<Texture, Resource> {
 public:
  TextureType textureType() const;
  PixelFormat pixelFormat() const;
  UInteger width() const;
  UInteger height() const;
  UInteger depth() const;
  UInteger arrayLength() const;
  UInteger mipmapLevelCount() const { return 1; }
  UInteger sampleCount() const { return 1; }
  TextureUsage usage() const;
  void replaceRegion(Region region, UInteger level, const void* bytes, UInteger bytes_per_row);
  void replaceRegion(Region region, UInteger level, UInteger slice, const void* bytes,
                     UInteger bytes_per_row, UInteger bytes_per_image);
  void getBytes(void* bytes, UInteger bytes_per_row, Region region, UInteger level);
  void getBytes(void* bytes, UInteger bytes_per_row, UInteger bytes_per_image, Region region,
                UInteger level, UInteger slice);
};

class SamplerDescriptor : public NS::Copying<SamplerDescriptor> {
 public:
  static SamplerDescriptor* alloc();
  SamplerDescriptor* init();
  void setMinFilter(SamplerMinMagFilter filter);
  void setMagFilter(SamplerMinMagFilter filter);
  void setSAddressMode(SamplerAddressMode mode);
  void setTAddressMode(SamplerAddressMode mode);
  void setRAddressMode(SamplerAddressMode mode);
  void setNormalizedCoordinates(bool normalized);
  // Textures have one level, so these change nothing.
  void setMipFilter(SamplerMipFilter) {}
  void setMaxAnisotropy(UInteger) {}
  void setLodMinClamp(float) {}
  void setLodMaxClamp(float) {}
  void setLodAverage(bool) {}
  void setSupportArgumentBuffers(bool) {}
  void setLabel(const NS::String*) {}
};
class SamplerState : public NS::Referencing<SamplerState> {
 public:
  Device* device() const;
};

class HeapDescriptor : public NS::Copying<HeapDescriptor> {
 public:
  static HeapDescriptor* alloc();
  HeapDescriptor* init();
  UInteger size() const;
  void setSize(UInteger bytes);
  StorageMode storageMode() const;
  void setStorageMode(StorageMode mode);
  HazardTrackingMode hazardTrackingMode() const;
  void setHazardTrackingMode(HazardTrackingMode mode);
  ResourceOptions resourceOptions() const;
  void setResourceOptions(ResourceOptions options);
  HeapType type() const;
  void setType(HeapType type);
  void setCpuCacheMode(CPUCacheMode) {}
};
class Heap : public NS::Referencing<Heap, Allocation> {
 public:
  NS::String* label() const;
  void setLabel(const NS::String* label);
  Device* device() const;
  StorageMode storageMode() const;
  HazardTrackingMode hazardTrackingMode() const;
  ResourceOptions resourceOptions() const;
  HeapType type() const;
  UInteger size() const;
  UInteger usedSize() const;
  UInteger currentAllocatedSize() const;
  UInteger maxAvailableSize(UInteger alignment);
  Buffer* newBuffer(UInteger length, ResourceOptions options);
  Buffer* newBuffer(UInteger length, ResourceOptions options, UInteger offset);
  Texture* newTexture(const TextureDescriptor* descriptor);
  PurgeableState setPurgeableState(PurgeableState) { return PurgeableStateNonVolatile; }
};

class Fence : public NS::Referencing<Fence> {
 public:
  Device* device() const;
  NS::String* label() const;
  void setLabel(const NS::String* label);
};
class Event : public NS::Referencing<Event> {
 public:
  Device* device() const;
  NS::String* label() const;
  void setLabel(const NS::String* label);
};
class SharedEventListener : public NS::Referencing<SharedEventListener> {
 public:
  static SharedEventListener* alloc();
  SharedEventListener* init();
  SharedEventListener* init(dispatch_queue_t) { return init(); }
};
using SharedEventNotificationFunction =
    std::function<void(SharedEvent* event, std::uint64_t value)>;
class SharedEvent : public NS::Referencing<SharedEvent, Event> {
 public:
  std::uint64_t signaledValue() const;
  void setSignaledValue(std::uint64_t value);
  bool waitUntilSignaledValue(std::uint64_t value, std::uint64_t milliseconds);
  void notifyListener(const SharedEventListener* listener, std::uint64_t value,
                      const SharedEventNotificationFunction& function);
};

class ResidencySetDescriptor : public NS::Copying<ResidencySetDescriptor> {
 public:
  static ResidencySetDescriptor* alloc();
  ResidencySetDescriptor* init();
  void setLabel(const NS::String*) {}
  void setInitialCapacity(UInteger) {}
};
/// Memory is always resident here. A set counts its members and does nothing else.
class ResidencySet : public NS::Referencing<ResidencySet> {
 public:
  Device* device() const;
  void addAllocation(const NS::Object* allocation);
  void addAllocations(const NS::Object* const allocations[], UInteger count);
  void removeAllocation(const NS::Object* allocation);
  void removeAllocations(const NS::Object* const allocations[], UInteger count);
  void removeAllAllocations();
  bool containsAllocation(const NS::Object* allocation);
  UInteger allocationCount() const;
  UInteger allocatedSize() const;
  void commit() {}
  void requestResidency() {}
  void endResidency() {}
};

class ArgumentEncoder : public NS::Referencing<ArgumentEncoder> {
 public:
  UInteger encodedLength() const;
  UInteger alignment() const { return 16; }
  void setArgumentBuffer(const Buffer* buffer, UInteger offset);
  void setBuffer(const Buffer* buffer, UInteger offset, UInteger index);
  void setTexture(const Texture* texture, UInteger index);
  void* constantData(UInteger index);
  void setLabel(const NS::String*) {}
};

class Function : public NS::Referencing<Function> {
 public:
  NS::String* label() const;
  void setLabel(const NS::String* label);
  Device* device() const;
  NS::String* name() const;
  FunctionType functionType() const { return FunctionTypeKernel; }
  NS::Dictionary* functionConstantsDictionary() const;
  ArgumentEncoder* newArgumentEncoder(UInteger buffer_index);
};

class Library : public NS::Referencing<Library> {
 public:
  NS::String* label() const;
  void setLabel(const NS::String* label);
  Device* device() const;
  NS::Array* functionNames() const;
  Function* newFunction(const NS::String* name);
  Function* newFunction(const NS::String* name, const FunctionConstantValues* values,
                        NS::Error** error);
  Function* newFunction(const FunctionDescriptor* descriptor, NS::Error** error);
  LibraryType type() const { return LibraryTypeExecutable; }
};

/// A parameter of a kernel. A parameter that a function constant leaves out has no binding.
class Binding : public NS::Referencing<Binding> {
 public:
  NS::String* name() const;
  BindingType type() const;
  BindingAccess access() const;
  UInteger index() const;
  bool isUsed() const { return true; }
  bool isArgument() const { return true; }
};
class BufferBinding : public NS::Referencing<BufferBinding, Binding> {
 public:
  /// Bytes of what the buffer's pointer points to.
  UInteger bufferDataSize() const;
};
/// The older form of a binding.
class Argument : public NS::Referencing<Argument> {
 public:
  NS::String* name() const;
  ArgumentType type() const;
  ArgumentAccess access() const;
  UInteger index() const;
  bool isActive() const { return true; }
  UInteger bufferDataSize() const;
};
class ComputePipelineReflection : public NS::Referencing<ComputePipelineReflection> {
 public:
  NS::Array* arguments() const;
  NS::Array* bindings() const;
};
using AutoreleasedComputePipelineReflection = ComputePipelineReflection*;

/// Functions for tables of functions. Kernels that call such a table are refused, so they change nothing.
class LinkedFunctions : public NS::Copying<LinkedFunctions> {
 public:
  static LinkedFunctions* linkedFunctions();
  static LinkedFunctions* alloc();
  LinkedFunctions* init() { return this; }
  void setFunctions(const NS::Array*) {}
  void setPrivateFunctions(const NS::Array*) {}
};
class ComputePipelineDescriptor : public NS::Copying<ComputePipelineDescriptor> {
 public:
  static ComputePipelineDescriptor* alloc();
  ComputePipelineDescriptor* init();
  NS::String* label() const;
  void setLabel(const NS::String* label);
  Function* computeFunction() const;
  void setComputeFunction(const Function* function);
  bool threadGroupSizeIsMultipleOfThreadExecutionWidth() const;
  void setThreadGroupSizeIsMultipleOfThreadExecutionWidth(bool is_multiple);
  UInteger maxTotalThreadsPerThreadgroup() const;
  void setMaxTotalThreadsPerThreadgroup(UInteger count);
  void setSupportIndirectCommandBuffers(bool) {}
  void setSupportAddingBinaryFunctions(bool) {}
  void setMaxCallStackDepth(UInteger) {}
  /// Kernels are compiled once in any case, and kept in the cache of `rung emu`.
  void setBinaryArchives(const NS::Array*) {}
  void setLinkedFunctions(const LinkedFunctions*) {}
  void reset();
};
class ComputePipelineState : public NS::Referencing<ComputePipelineState> {
 public:
  NS::String* label() const;
  Device* device() const;
  UInteger maxTotalThreadsPerThreadgroup() const;
  UInteger threadExecutionWidth() const { return 32; }
  UInteger staticThreadgroupMemoryLength() const;
  bool supportIndirectCommandBuffers() const { return false; }
};

class CommandEncoder : public NS::Referencing<CommandEncoder> {
 public:
  Device* device() const;
  NS::String* label() const;
  void setLabel(const NS::String* label);
  void endEncoding();
  void insertDebugSignpost(const NS::String*) {}
  void pushDebugGroup(const NS::String*) {}
  void popDebugGroup() {}
};

class ComputeCommandEncoder : public NS::Referencing<ComputeCommandEncoder, CommandEncoder> {
 public:
  DispatchType dispatchType() const;
  void setComputePipelineState(const ComputePipelineState* state);
  void setBytes(const void* bytes, UInteger length, UInteger index);
  void setBuffer(const Buffer* buffer, UInteger offset, UInteger index);
  void setBufferOffset(UInteger offset, UInteger index);
  void setBuffers(const Buffer* const buffers[], const UInteger offsets[], NS::Range range);
  void setTexture(const Texture* texture, UInteger index);
  void setTextures(const Texture* const textures[], NS::Range range);
  void setSamplerState(const SamplerState* sampler, UInteger index);
  void setSamplerStates(const SamplerState* const samplers[], NS::Range range);
  void setThreadgroupMemoryLength(UInteger length, UInteger index);
  void dispatchThreadgroups(Size threadgroups, Size threads_per_threadgroup);
  void dispatchThreadgroups(const Buffer* arguments, UInteger offset, Size threads_per_threadgroup);
  void dispatchThreads(Size threads, Size threads_per_threadgroup);
  void memoryBarrier(BarrierScope scope);
  void memoryBarrier(const Resource* const resources[], UInteger count);
  void updateFence(const Fence* fence);
  void waitForFence(const Fence* fence);
  void useResource(const Resource* resource, ResourceUsage usage);
  void useResources(const Resource* const resources[], UInteger count, ResourceUsage usage);
  void useHeap(const Heap* heap);
  void useHeaps(const Heap* const heaps[], UInteger count);
};

class BlitCommandEncoder : public NS::Referencing<BlitCommandEncoder, CommandEncoder> {
 public:
  void fillBuffer(const Buffer* buffer, NS::Range range, std::uint8_t value);
  void copyFromBuffer(const Buffer* source, UInteger source_offset, const Buffer* destination,
                      UInteger destination_offset, UInteger size);
  void synchronizeResource(const Resource* resource);
  void synchronizeTexture(const Texture* texture, UInteger slice, UInteger level);
  void copyFromTexture(const Texture* source, const Texture* destination);
  void generateMipmaps(const Texture*) {}
  void optimizeContentsForGPUAccess(const Texture*) {}
  void optimizeContentsForCPUAccess(const Texture*) {}
  void updateFence(const Fence* fence);
  void waitForFence(const Fence* fence);
};

class ComputePassDescriptor : public NS::Copying<ComputePassDescriptor> {
 public:
  static ComputePassDescriptor* computePassDescriptor();
  static ComputePassDescriptor* alloc();
  ComputePassDescriptor* init();
  DispatchType dispatchType() const;
  void setDispatchType(DispatchType type);
};
class BlitPassDescriptor : public NS::Copying<BlitPassDescriptor> {
 public:
  static BlitPassDescriptor* blitPassDescriptor();
};

class CommandBufferDescriptor : public NS::Copying<CommandBufferDescriptor> {
 public:
  static CommandBufferDescriptor* alloc();
  CommandBufferDescriptor* init();
  void setRetainedReferences(bool retained);
  void setErrorOptions(CommandBufferErrorOption) {}
};

using CommandBufferHandler = void (*)(CommandBuffer*);
using HandlerFunction = std::function<void(CommandBuffer*)>;

class CommandBuffer : public NS::Referencing<CommandBuffer> {
 public:
  Device* device() const;
  CommandQueue* commandQueue() const;
  bool retainedReferences() const { return true; }
  NS::String* label() const;
  void setLabel(const NS::String* label);
  ComputeCommandEncoder* computeCommandEncoder();
  ComputeCommandEncoder* computeCommandEncoder(DispatchType type);
  ComputeCommandEncoder* computeCommandEncoder(const ComputePassDescriptor* descriptor);
  BlitCommandEncoder* blitCommandEncoder();
  BlitCommandEncoder* blitCommandEncoder(const BlitPassDescriptor* descriptor);
  void enqueue();
  void commit();
  void addScheduledHandler(const HandlerFunction& function);
  void addCompletedHandler(const HandlerFunction& function);
#ifdef __BLOCKS__
  void addScheduledHandler(void (^block)(CommandBuffer*)) {
    addScheduledHandler(rung_blocks::function(block));
  }
  void addCompletedHandler(void (^block)(CommandBuffer*)) {
    addCompletedHandler(rung_blocks::function(block));
  }
#endif
  void waitUntilScheduled();
  void waitUntilCompleted();
  CommandBufferStatus status() const;
  NS::Error* error() const;
  CFTimeInterval kernelStartTime() const { return GPUStartTime(); }
  CFTimeInterval kernelEndTime() const { return GPUEndTime(); }
  CFTimeInterval GPUStartTime() const;
  CFTimeInterval GPUEndTime() const;
  void encodeWait(const Event* event, std::uint64_t value);
  void encodeSignalEvent(const Event* event, std::uint64_t value);
  void pushDebugGroup(const NS::String*) {}
  void popDebugGroup() {}
  void useResidencySet(const ResidencySet*) {}
  void useResidencySets(const ResidencySet* const[], UInteger) {}
};

class CommandQueue : public NS::Referencing<CommandQueue> {
 public:
  NS::String* label() const;
  void setLabel(const NS::String* label);
  Device* device() const;
  CommandBuffer* commandBuffer();
  CommandBuffer* commandBuffer(const CommandBufferDescriptor* descriptor);
  CommandBuffer* commandBufferWithUnretainedReferences();
  void insertDebugCaptureBoundary() {}
  void addResidencySet(const ResidencySet*) {}
  void addResidencySets(const ResidencySet* const[], UInteger) {}
  void removeResidencySet(const ResidencySet*) {}
};

class Architecture : public NS::Copying<Architecture> {
 public:
  NS::String* name() const;
};

class Device : public NS::Referencing<Device> {
 public:
  NS::String* name() const;
  Architecture* architecture() const;
  std::uint64_t registryID() const { return 1; }
  Size maxThreadsPerThreadgroup() const;
  UInteger maxThreadgroupMemoryLength() const;
  UInteger maxBufferLength() const;
  UInteger maxTransferRate() const { return 0; }
  std::uint64_t recommendedMaxWorkingSetSize() const;
  UInteger currentAllocatedSize() const;
  bool hasUnifiedMemory() const { return true; }
  bool isLowPower() const { return false; }
  bool lowPower() const { return false; }
  bool isHeadless() const { return false; }
  bool headless() const { return false; }
  bool isRemovable() const { return false; }
  bool removable() const { return false; }
  DeviceLocation location() const { return DeviceLocationBuiltIn; }
  UInteger locationNumber() const { return 0; }
  ArgumentBuffersTier argumentBuffersSupport() const { return ArgumentBuffersTier2; }
  ReadWriteTextureTier readWriteTextureSupport() const { return ReadWriteTextureTier2; }
  bool supportsFamily(GPUFamily family);
  bool supportsFeatureSet(FeatureSet) { return true; }
  bool supports32BitFloatFiltering() const { return true; }
  bool supports32BitMSAA() const { return true; }
  bool supportsDynamicLibraries() const { return false; }
  bool supportsFunctionPointers() const { return false; }
  bool supportsRaytracing() const { return false; }
  bool supportsPrimitiveMotionBlur() const { return false; }
  bool supportsQueryTextureLOD() const { return false; }
  bool supportsBCTextureCompression() const { return false; }
  bool supportsShaderBarycentricCoordinates() const { return false; }
  bool supportsPullModelInterpolation() const { return false; }
  bool supportsFunctionPointersFromRender() const { return false; }
  bool supportsRaytracingFromRender() const { return false; }
  bool supportsRenderDynamicLibraries() const { return false; }
  bool supportsRasterizationRateMap(UInteger) const { return false; }
  bool supportsVertexAmplificationCount(UInteger count) const { return count == 1; }
  bool supportsTextureSampleCount(UInteger count) const { return count == 1; }
  bool supportsCounterSampling(CounterSamplingPoint) const { return false; }
  NS::Array* counterSets() const { return NS::Array::array(); }
  bool areBarycentricCoordsSupported() const { return false; }
  bool barycentricCoordsSupported() const { return false; }
  bool areProgrammableSamplePositionsSupported() const { return false; }
  bool programmableSamplePositionsSupported() const { return false; }
  bool areRasterOrderGroupsSupported() const { return false; }
  bool rasterOrderGroupsSupported() const { return false; }
  bool isDepth24Stencil8PixelFormatSupported() const { return false; }
  bool depth24Stencil8PixelFormatSupported() const { return false; }
  std::uint64_t peerGroupID() const { return 0; }
  std::uint32_t peerIndex() const { return 0; }
  std::uint32_t peerCount() const { return 0; }
  // Pipelines are compiled one by one, when they are made.
  bool shouldMaximizeConcurrentCompilation() const { return false; }
  void setShouldMaximizeConcurrentCompilation(bool) {}
  UInteger maximumConcurrentCompilationTaskCount() const { return 1; }
  UInteger maxArgumentBufferSamplerCount() const { return 1024; }
  void sampleTimestamps(Timestamp* cpu, Timestamp* gpu);

  CommandQueue* newCommandQueue();
  CommandQueue* newCommandQueue(UInteger max_command_buffers);
  Buffer* newBuffer(UInteger length, ResourceOptions options);
  Buffer* newBuffer(const void* bytes, UInteger length, ResourceOptions options);
  Buffer* newBuffer(const void* bytes, UInteger length, ResourceOptions options,
                    const std::function<void(void* pointer, UInteger length)>& deallocator);
#ifdef __BLOCKS__
  Buffer* newBuffer(const void* pointer, UInteger length, ResourceOptions options,
                    void (^deallocator)(void* pointer, UInteger length)) {
    return newBuffer(pointer, length, options, rung_blocks::function(deallocator));
  }
#endif
  SizeAndAlign heapBufferSizeAndAlign(UInteger length, ResourceOptions options);
  Heap* newHeap(const HeapDescriptor* descriptor);
  Texture* newTexture(const TextureDescriptor* descriptor);
  SamplerState* newSamplerState(const SamplerDescriptor* descriptor);
  UInteger minimumLinearTextureAlignmentForPixelFormat(PixelFormat) { return 16; }
  BinaryArchive* newBinaryArchive(const BinaryArchiveDescriptor* descriptor, NS::Error** error);
  Fence* newFence();
  Event* newEvent();
  SharedEvent* newSharedEvent();
  ResidencySet* newResidencySet(const ResidencySetDescriptor* descriptor, NS::Error** error);
  Library* newDefaultLibrary();
  Library* newDefaultLibrary(const NS::Bundle* bundle, NS::Error** error);
  Library* newLibrary(const NS::String* source_or_path, const CompileOptions* options,
                      NS::Error** error);
  Library* newLibrary(const NS::String* path, NS::Error** error);
  Library* newLibrary(const NS::URL* url, NS::Error** error);
  Library* newLibrary(dispatch_data_t data, NS::Error** error);
  ComputePipelineState* newComputePipelineState(const Function* function, NS::Error** error);
  ComputePipelineState* newComputePipelineState(
      const Function* function, PipelineOption options,
      const AutoreleasedComputePipelineReflection* reflection, NS::Error** error);
  ComputePipelineState* newComputePipelineState(
      const ComputePipelineDescriptor* descriptor, PipelineOption options,
      const AutoreleasedComputePipelineReflection* reflection, NS::Error** error);
};

/// An archive of compiled pipelines. It stays empty: the cache of `rung emu` keeps them.
class BinaryArchiveDescriptor : public NS::Copying<BinaryArchiveDescriptor> {
 public:
  static BinaryArchiveDescriptor* alloc();
  BinaryArchiveDescriptor* init() { return this; }
  void setUrl(const NS::URL*) {}
};
class BinaryArchive : public NS::Referencing<BinaryArchive> {
 public:
  Device* device() const;
  void setLabel(const NS::String*) {}
  bool addComputePipelineFunctions(const ComputePipelineDescriptor*, NS::Error**) { return true; }
  /// Writes an empty file.
  bool serializeToURL(const NS::URL* url, NS::Error** error);
};

Device* CreateSystemDefaultDevice();
NS::Array* CopyAllDevices();

/// Captures for Xcode, which fail here, as on a Mac unless METAL_CAPTURE_ENABLED is 1.
enum CaptureDestination : Integer {
  CaptureDestinationDeveloperTools = 1,
  CaptureDestinationGPUTraceDocument = 2
};
class CaptureDescriptor : public NS::Referencing<CaptureDescriptor> {
 public:
  static CaptureDescriptor* alloc();
  CaptureDescriptor* init() { return this; }
  void setCaptureObject(const NS::Object*) {}
  void setDestination(CaptureDestination) {}
  void setOutputURL(const NS::URL*) {}
};
class CaptureScope : public NS::Referencing<CaptureScope> {
 public:
  void setLabel(const NS::String*) {}
  void beginScope() {}
  void endScope() {}
};
class CaptureManager : public NS::Referencing<CaptureManager> {
 public:
  static CaptureManager* sharedCaptureManager();
  bool supportsDestination(CaptureDestination) { return false; }
  bool startCapture(const CaptureDescriptor* descriptor, NS::Error** error);
  void startCapture(const Device*) {}
  void startCapture(const CommandQueue*) {}
  void startCapture(const CaptureScope*) {}
  CaptureScope* newCaptureScope(const Device* device);
  CaptureScope* newCaptureScope(const CommandQueue* queue);
  void setDefaultCaptureScope(const CaptureScope*) {}
  void stopCapture() {}
  bool isCapturing() const { return false; }
};

}  // namespace MTL
#pragma GCC visibility pop
