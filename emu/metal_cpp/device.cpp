// The device, its queries, and the small objects that it makes.

#include <fmt/format.h>

#include <chrono>

#include "emu/metal_cpp/state.hpp"
#include "emu/runtime/program_kind.hpp"
#include "emu/runtime/runtime.hpp"
#include "vgpu/driver/virtual_driver.hpp"

namespace rung::emu::metal_cpp {

const cuda::DriverApi& gpu() {
  Runtime::get().enter();
  return driver();
}

const vgpu::DeviceDescription& description() {
  gpu();
  return vgpu::virtual_device();
}

DeviceObject& device() {
  static DeviceObject& only = *[] {
    set_program_kind(ProgramKind::metal);
    gpu();
    set_up_reports();
    auto* const made = named(new DeviceObject, "MTL::Device");
    ++NS::ObjectAccess::record(*made).internal;  // the system's reference
    return made;
  }();
  return only;
}

namespace {

struct ArchitectureObject final : MTL::Architecture {
  std::string name;
};
struct ResidencySetObject final : MTL::ResidencySet {
  std::vector<Ref<NS::Object>> members;
};
struct ResidencySetDescriptorObject final : MTL::ResidencySetDescriptor {};
struct ComputePassDescriptorObject final : MTL::ComputePassDescriptor {
  MTL::DispatchType type = MTL::DispatchTypeSerial;
};
struct BlitPassDescriptorObject final : MTL::BlitPassDescriptor {};
struct CommandBufferDescriptorObject final : MTL::CommandBufferDescriptor {};

/// 7 for M1, 8 for M2, 9 from M3 on.
int apple_family() {
  const std::string& name = description().name;
  if (name.find(" M1") != name.npos) return 7;
  return name.find(" M2") != name.npos ? 8 : 9;
}

}  // namespace
}  // namespace rung::emu::metal_cpp

namespace MTL {

using namespace rung::emu::metal_cpp;

Device* CreateSystemDefaultDevice() {
  const std::lock_guard lock(library_mutex());
  return device().retain();
}
NS::Array* CopyAllDevices() {
  const std::lock_guard lock(library_mutex());
  const NS::Object* const only = &device();
  return new_array(&only, 1);
}

NS::String* Device::name() const {
  const std::lock_guard lock(library_mutex());
  if (!is_usable(this)) return nullptr;
  return autoreleased(new_string(rung::emu::metal_cpp::description().name));
}
Architecture* Device::architecture() const {
  const std::lock_guard lock(library_mutex());
  auto* const made = named(new ArchitectureObject, "MTL::Architecture");
  made->name = fmt::format("applegpu_g{}s", apple_family() + 6);
  return autoreleased(made);
}
NS::String* Architecture::name() const {
  return ask<ArchitectureObject>(this, [](const ArchitectureObject& own) -> NS::String* {
    return autoreleased(new_string(own.name));
  });
}
Size Device::maxThreadsPerThreadgroup() const {
  const auto most =
      static_cast<UInteger>(rung::emu::metal_cpp::description().max_threads_per_block);
  return {most, most, most};
}
UInteger Device::maxThreadgroupMemoryLength() const {
  return static_cast<UInteger>(rung::emu::metal_cpp::description().shared_per_block);
}
// Apple states neither. These are half and two thirds of the memory, as on an M1 Pro.
UInteger Device::maxBufferLength() const {
  return static_cast<UInteger>(rung::emu::metal_cpp::description().memory_bytes) / 2;
}
std::uint64_t Device::recommendedMaxWorkingSetSize() const {
  return static_cast<std::uint64_t>(rung::emu::metal_cpp::description().memory_bytes) / 3 * 2;
}
UInteger Device::currentAllocatedSize() const { return device().allocated; }
bool Device::supportsFamily(GPUFamily family) {
  if (!is_usable(this)) return false;
  if (family >= GPUFamilyApple1 && family <= GPUFamilyApple10) {
    return family - GPUFamilyApple1 < apple_family();
  }
  return family != GPUFamilyMetal4;
}
void Device::sampleTimestamps(Timestamp* cpu, Timestamp* gpu) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  *cpu = *gpu =
      static_cast<Timestamp>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

ResidencySetDescriptor* ResidencySetDescriptor::alloc() {
  return named(new ResidencySetDescriptorObject, "MTL::ResidencySetDescriptor");
}
ResidencySetDescriptor* ResidencySetDescriptor::init() { return this; }
ResidencySet* Device::newResidencySet(const ResidencySetDescriptor*, NS::Error**) {
  return named(new ResidencySetObject, "MTL::ResidencySet");
}
Device* ResidencySet::device() const { return &rung::emu::metal_cpp::device(); }
void ResidencySet::addAllocation(const NS::Object* allocation) {
  ask<ResidencySetObject>(this, [&](ResidencySetObject& own) {
    if (!is_usable(allocation) || containsAllocation(allocation)) return;
    own.members.emplace_back(const_cast<NS::Object*>(allocation));
  });
}
void ResidencySet::addAllocations(const NS::Object* const allocations[], UInteger count) {
  for (UInteger i = 0; i < count; ++i) addAllocation(allocations[i]);
}
void ResidencySet::removeAllocation(const NS::Object* allocation) {
  ask<ResidencySetObject>(this, [&](ResidencySetObject& own) {
    std::erase_if(own.members, [&](const auto& each) { return each.get() == allocation; });
  });
}
void ResidencySet::removeAllocations(const NS::Object* const allocations[], UInteger count) {
  for (UInteger i = 0; i < count; ++i) removeAllocation(allocations[i]);
}
void ResidencySet::removeAllAllocations() {
  ask<ResidencySetObject>(this, [](ResidencySetObject& own) { own.members.clear(); });
}
bool ResidencySet::containsAllocation(const NS::Object* allocation) {
  return ask<ResidencySetObject>(this, [&](ResidencySetObject& own) {
    return std::any_of(own.members.begin(), own.members.end(),
                       [&](const auto& each) { return each.get() == allocation; });
  });
}
UInteger ResidencySet::allocationCount() const {
  return ask<ResidencySetObject>(this, [](const auto& own) { return own.members.size(); });
}
UInteger ResidencySet::allocatedSize() const {
  return ask<ResidencySetObject>(this, [](const ResidencySetObject& own) {
    UInteger bytes = 0;
    for (const auto& each : own.members) {
      if (const auto* const heap = dynamic_cast<const HeapObject*>(each.get())) bytes += heap->size;
      if (const auto* const resource = dynamic_cast<const Resource*>(each.get())) {
        bytes += state_of(*resource).bytes;
      }
    }
    return bytes;
  });
}

ComputePassDescriptor* ComputePassDescriptor::computePassDescriptor() {
  return autoreleased(alloc());
}
ComputePassDescriptor* ComputePassDescriptor::alloc() {
  return named(new ComputePassDescriptorObject, "MTL::ComputePassDescriptor");
}
ComputePassDescriptor* ComputePassDescriptor::init() { return this; }
DispatchType ComputePassDescriptor::dispatchType() const {
  return ask<ComputePassDescriptorObject>(this, [](const auto& own) { return own.type; });
}
void ComputePassDescriptor::setDispatchType(DispatchType type) {
  ask<ComputePassDescriptorObject>(this, [&](auto& own) { own.type = type; });
}
BlitPassDescriptor* BlitPassDescriptor::blitPassDescriptor() {
  return autoreleased(named(new BlitPassDescriptorObject, "MTL::BlitPassDescriptor"));
}
CommandBufferDescriptor* CommandBufferDescriptor::alloc() {
  return named(new CommandBufferDescriptorObject, "MTL::CommandBufferDescriptor");
}
CommandBufferDescriptor* CommandBufferDescriptor::init() { return this; }
void CommandBufferDescriptor::setRetainedReferences(bool) {}
namespace {
struct CaptureDescriptorObject final : CaptureDescriptor {};
struct CaptureManagerObject final : CaptureManager {};
struct CaptureScopeObject final : CaptureScope {};
}  // namespace
CaptureDescriptor* CaptureDescriptor::alloc() {
  return named(new CaptureDescriptorObject, "MTL::CaptureDescriptor");
}
CaptureScope* CaptureManager::newCaptureScope(const Device*) {
  return named(new CaptureScopeObject, "MTL::CaptureScope");
}
CaptureScope* CaptureManager::newCaptureScope(const CommandQueue*) {
  return named(new CaptureScopeObject, "MTL::CaptureScope");
}
CaptureManager* CaptureManager::sharedCaptureManager() {
  static CaptureManagerObject* const manager = [] {
    auto* const made = named(new CaptureManagerObject, "MTL::CaptureManager");
    ++NS::ObjectAccess::record(*made).internal;  // the system's reference
    return made;
  }();
  return manager;
}
bool CaptureManager::startCapture(const CaptureDescriptor*, NS::Error** error) {
  fail(error, "MTLCaptureErrorDomain", 1, "Capturing is not supported.");
  return false;
}

}  // namespace MTL
