// Buffers and heaps.

#include <fmt/format.h>

#include <algorithm>

#include "emu/metal_cpp/state.hpp"
#include "emu/runtime/memory_history.hpp"
#include "emu/runtime/runtime.hpp"

namespace rung::emu::metal_cpp {
namespace {

/// Zero if there is no memory left.
std::uint64_t allocate(std::size_t bytes, MTL::StorageMode storage, bool clear) {
  cuda::DevicePointer address = 0;
  if (storage != MTL::StorageModePrivate) {
    gpu().cuMemAllocManaged(&address, bytes, cuda::attach_global);
    return address;
  }
  if (gpu().cuMemAlloc(&address, bytes) != cuda::Result::success) return 0;
  if (clear) {
    gpu().cuMemsetD8(address, 0, bytes);
    gpu().cuStreamSynchronize(nullptr);
  }
  return address;
}

/// With hazard tracking as the heap or the device decides.
MTL::ResourceOptions completed(MTL::ResourceOptions options, const HeapObject* heap) {
  const MTL::ResourceOptions tracking =
      MTL::ResourceHazardTrackingModeTracked | MTL::ResourceHazardTrackingModeUntracked;
  if (heap != nullptr) {
    return (options & ~(tracking | MTL::ResourceOptions{0xF0})) | heap->options;
  }
  return (options & tracking) != 0 ? options : options | MTL::ResourceHazardTrackingModeTracked;
}

BufferObject* new_buffer(std::size_t bytes, MTL::ResourceOptions options, HeapObject* heap) {
  if (bytes == 0) {
    report_misuse("newBuffer: a buffer has at least one byte");
    return nullptr;
  }
  options = completed(options, heap);
  const auto storage = static_cast<MTL::StorageMode>(options >> 4 & 0xF);
  const std::uint64_t address = allocate(bytes, storage, heap == nullptr);
  if (address == 0) return nullptr;
  const CallSite site = CallSite::here();
  note_allocated(reinterpret_cast<const void*>(address), bytes, "newBuffer", site);
  auto* const buffer = named(new BufferObject, "MTL::Buffer");
  buffer->state.options = options;
  buffer->state.bytes = bytes;
  buffer->state.address = address;
  buffer->state.heap = heap;
  device().allocated += heap == nullptr ? bytes : 0;
  return buffer;
}

constexpr std::size_t heap_alignment = 256;

std::size_t aligned(std::size_t bytes) {
  return (bytes + heap_alignment - 1) / heap_alignment * heap_alignment;
}

}  // namespace

BufferObject::~BufferObject() {
  const auto* const pointer = reinterpret_cast<const void*>(state.address);
  if (is_given) {
    gpu().cuMemHostUnregister(const_cast<void*>(pointer));
    if (deallocator) deallocator(const_cast<void*>(pointer), state.bytes);
    return;
  }
  note_freed(pointer);
  gpu().cuMemFree(state.address);
  if (state.heap) {
    state.heap->used -= aligned(state.bytes);
  } else {
    metal_cpp::device().allocated -= state.bytes;
  }
}

HeapObject::~HeapObject() { metal_cpp::device().allocated -= size; }

ResourceState& state_of(const MTL::Resource& resource) {
  auto& object = const_cast<MTL::Resource&>(resource);
  if (auto* const texture = dynamic_cast<TextureObject*>(&object)) return texture->state;
  return static_cast<BufferObject&>(static_cast<MTL::Buffer&>(object)).state;
}

namespace {

/// The state of a resource that exists.
template <class Function>
auto with_state(const MTL::Resource* resource, const Function& function) {
  return ask<MTL::Resource>(
      resource, [&](const MTL::Resource& object) { return function(state_of(object)); });
}

}  // namespace
}  // namespace rung::emu::metal_cpp

namespace MTL {

using namespace rung::emu::metal_cpp;

NS::String* Resource::label() const {
  return with_state(this, [](ResourceState& state) -> NS::String* {
    return autoreleased(new_string(state.label));
  });
}
void Resource::setLabel(const NS::String* label) {
  with_state(this, [&](ResourceState& state) {
    state.label = text_of(label);
    rung::emu::note_label(reinterpret_cast<const void*>(state.address), state.label);
  });
}
Device* Resource::device() const { return &rung::emu::metal_cpp::device(); }
CPUCacheMode Resource::cpuCacheMode() const {
  return with_state(
      this, [](ResourceState& state) { return static_cast<CPUCacheMode>(state.options & 0xF); });
}
StorageMode Resource::storageMode() const {
  return with_state(this, [](ResourceState& state) { return state.storage(); });
}
HazardTrackingMode Resource::hazardTrackingMode() const {
  return with_state(this, [](ResourceState& state) {
    return state.is_tracked() ? HazardTrackingModeTracked : HazardTrackingModeUntracked;
  });
}
ResourceOptions Resource::resourceOptions() const {
  return with_state(this, [](ResourceState& state) { return state.options; });
}
Heap* Resource::heap() const {
  return with_state(this, [](ResourceState& state) -> Heap* { return state.heap.get(); });
}
UInteger Resource::heapOffset() const {
  return with_state(this, [](ResourceState& state) { return state.heap_offset; });
}
UInteger Resource::allocatedSize() const {
  return with_state(this, [](ResourceState& state) { return state.bytes; });
}
void Resource::makeAliasable() {
  with_state(this, [](ResourceState& state) { state.is_aliasable = true; });
}
bool Resource::isAliasable() const {
  return with_state(this, [](ResourceState& state) { return state.is_aliasable; });
}

UInteger Buffer::length() const {
  return ask<BufferObject>(this, [](const BufferObject& own) { return own.state.bytes; });
}
void* Buffer::contents() {
  return ask<BufferObject>(this, [](BufferObject& own) -> void* {
    if (own.state.storage() != StorageModePrivate)
      return reinterpret_cast<void*>(own.state.address);
    report_misuse("contents() of a buffer with StorageModePrivate, which the CPU cannot access");
    return nullptr;
  });
}
void Buffer::didModifyRange(NS::Range range) {
  ask<BufferObject>(this, [&](BufferObject& own) {
    if (range.Max() <= own.state.bytes) return;
    report_misuse(fmt::format("didModifyRange of bytes {} to {} of a buffer of {}", range.location,
                              range.Max(), own.state.bytes));
  });
}
GPUAddress Buffer::gpuAddress() const {
  return ask<BufferObject>(this, [](const BufferObject& own) { return own.state.address; });
}

Buffer* Device::newBuffer(UInteger length, ResourceOptions options) {
  return ask<DeviceObject>(
      this, [&](DeviceObject&) -> Buffer* { return new_buffer(length, options, nullptr); });
}
Buffer* Device::newBuffer(const void* bytes, UInteger length, ResourceOptions options) {
  return ask<DeviceObject>(this, [&](DeviceObject&) -> Buffer* {
    BufferObject* const buffer = new_buffer(length, options, nullptr);
    if (buffer == nullptr || bytes == nullptr) return buffer;
    gpu().cuMemcpyHtoD(buffer->state.address, bytes, length);
    return buffer;
  });
}
Buffer* Device::newBuffer(const void* bytes, UInteger length, ResourceOptions options,
                          const std::function<void(void*, UInteger)>& deallocator) {
  return ask<DeviceObject>(this, [&](DeviceObject&) -> Buffer* {
    if (gpu().cuMemHostRegister(const_cast<void*>(bytes), length, 0) !=
        rung::cuda::Result::success) {
      report_misuse("newBuffer: this memory is already that of a buffer, or there is none");
      return nullptr;
    }
    auto* const buffer = named(new BufferObject, "MTL::Buffer");
    buffer->state.options = completed(options, nullptr);
    buffer->state.bytes = length;
    buffer->state.address = reinterpret_cast<std::uint64_t>(bytes);
    buffer->deallocator = deallocator;
    buffer->is_given = true;
    rung::emu::metal_cpp::device().allocated += length;
    return buffer;
  });
}

HeapDescriptor* HeapDescriptor::alloc() {
  return named(new HeapDescriptorObject, "MTL::HeapDescriptor");
}
HeapDescriptor* HeapDescriptor::init() { return this; }
UInteger HeapDescriptor::size() const {
  return ask<HeapDescriptorObject>(this, [](const auto& own) { return own.size; });
}
void HeapDescriptor::setSize(UInteger bytes) {
  ask<HeapDescriptorObject>(this, [&](auto& own) { own.size = bytes; });
}
StorageMode HeapDescriptor::storageMode() const {
  return static_cast<StorageMode>(resourceOptions() >> 4 & 0xF);
}
void HeapDescriptor::setStorageMode(StorageMode mode) {
  ask<HeapDescriptorObject>(
      this, [&](auto& own) { own.options = (own.options & ~ResourceOptions{0xF0}) | mode << 4; });
}
HazardTrackingMode HeapDescriptor::hazardTrackingMode() const {
  return static_cast<HazardTrackingMode>(resourceOptions() >> 8 & 3);
}
void HeapDescriptor::setHazardTrackingMode(HazardTrackingMode mode) {
  ask<HeapDescriptorObject>(
      this, [&](auto& own) { own.options = (own.options & ~ResourceOptions{0x300}) | mode << 8; });
}
ResourceOptions HeapDescriptor::resourceOptions() const {
  return ask<HeapDescriptorObject>(this, [](const auto& own) { return own.options; });
}
void HeapDescriptor::setResourceOptions(ResourceOptions options) {
  ask<HeapDescriptorObject>(this, [&](auto& own) { own.options = options; });
}
HeapType HeapDescriptor::type() const {
  return ask<HeapDescriptorObject>(this, [](const auto& own) { return own.type; });
}
void HeapDescriptor::setType(HeapType type) {
  ask<HeapDescriptorObject>(this, [&](auto& own) { own.type = type; });
}

Heap* Device::newHeap(const HeapDescriptor* descriptor) {
  return ask<HeapDescriptorObject>(descriptor, [](const HeapDescriptorObject& from) -> Heap* {
    auto* const heap = named(new HeapObject, "MTL::Heap");
    heap->size = from.size;
    // Resources of heaps are untracked unless the descriptor says otherwise.
    heap->options = from.options;
    if ((from.options & 0x300) == 0) heap->options |= ResourceHazardTrackingModeUntracked;
    heap->type = from.type;
    rung::emu::metal_cpp::device().allocated += from.size;
    return heap;
  });
}
SizeAndAlign Device::heapBufferSizeAndAlign(UInteger length, ResourceOptions) {
  return {aligned(length), heap_alignment};
}
NS::String* Heap::label() const {
  return ask<HeapObject>(this, [](const HeapObject& own) -> NS::String* {
    return autoreleased(new_string(own.label));
  });
}
void Heap::setLabel(const NS::String* label) {
  ask<HeapObject>(this, [&](HeapObject& own) { own.label = text_of(label); });
}
Device* Heap::device() const { return &rung::emu::metal_cpp::device(); }
StorageMode Heap::storageMode() const {
  return static_cast<StorageMode>(resourceOptions() >> 4 & 0xF);
}
HazardTrackingMode Heap::hazardTrackingMode() const {
  return static_cast<HazardTrackingMode>(resourceOptions() >> 8 & 3);
}
ResourceOptions Heap::resourceOptions() const {
  return ask<HeapObject>(this, [](const HeapObject& own) { return own.options; });
}
HeapType Heap::type() const {
  return ask<HeapObject>(this, [](const HeapObject& own) { return own.type; });
}
UInteger Heap::size() const {
  return ask<HeapObject>(this, [](const HeapObject& own) { return own.size; });
}
UInteger Heap::usedSize() const {
  return ask<HeapObject>(this, [](const HeapObject& own) { return own.used; });
}
UInteger Heap::currentAllocatedSize() const { return size(); }
UInteger Heap::maxAvailableSize(UInteger) {
  return ask<HeapObject>(this, [](HeapObject& own) { return own.size - own.used; });
}
Buffer* Heap::newBuffer(UInteger length, ResourceOptions options) {
  return newBuffer(length, options, usedSize());
}
Buffer* Heap::newBuffer(UInteger length, ResourceOptions options, UInteger offset) {
  return ask<HeapObject>(this, [&](HeapObject& own) -> Buffer* {
    if (own.used + aligned(length) > own.size) return nullptr;
    BufferObject* const buffer = new_buffer(length, options, &own);
    if (buffer == nullptr) return nullptr;
    buffer->state.heap_offset = offset;
    own.used += aligned(length);
    return buffer;
  });
}

}  // namespace MTL
