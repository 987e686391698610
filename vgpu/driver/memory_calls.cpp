// Device and host memory: allocation, registration, and pointer attributes.

#include <fmt/format.h>

#include <algorithm>

#include "vgpu/driver/call.hpp"
#include "vgpu/driver/calls.hpp"

namespace rung::vgpu::driver {
namespace {

constexpr std::size_t pitch_alignment = 512;
constexpr Device cpu_device = -1;  // CU_DEVICE_CPU

std::uint64_t allocate(ContextState& context, std::size_t bytes, Range range) {
  require(bytes != 0, Result::invalid_value, "an allocation of 0 bytes");
  DeviceMemory& memory = context.memory;
  try {
    const std::uint64_t address = memory.allocate(bytes, {}, range.origin != Origin::device);
    context.ranges[address] = range;
    ProgramOrder& order = process().order;
    if (range.origin != Origin::device) {
      order.raise(ProgramOrder::Level::host_memory);
      context.host_visible_bytes += bytes;
    }
    order.reports().name_memory(address);
    return address;
  } catch (const std::bad_alloc&) {
    fail(Result::out_of_memory,
         fmt::format("an allocation of {} bytes: {} of the device's {} bytes are free", bytes,
                     memory.capacity() - memory.used(), memory.capacity()));
  }
}

/// A call that frees memory waits for all work, except if the memory is that of a stream (CUDA C++
/// Programming Guide, "Stream Ordered Memory Allocator").
void wait_before_free(ContextState& context, std::uint64_t address, const Range& range) {
  ProgramOrder& order = process().order;
  if (!range.in_stream) return order.synchronize_all();
  const Allocation* const freed = std::as_const(context.memory).find(address);
  if (freed != nullptr) order.free_by_host(context.memory, {freed->address, freed->bytes});
}

/// Frees memory that was allocated as one of two origins. `by_host`: not in the order of a stream.
void release(ContextState& context, std::uint64_t address, Origin origin, Origin other,
             bool by_host = true) {
  if (address == 0) return;
  process().pending.run_all();
  const auto found = context.ranges.find(address);
  const bool right = found != context.ranges.end() &&
                     (found->second.origin == origin || found->second.origin == other);
  if (!right) {
    const std::string memory = context.memory.describe(address);
    fail(Result::invalid_value,
         fmt::format("{}{} is not the beginning of an allocation of that kind",
                     memory.starts_with("freed ") ? "double free: " : "", memory));
  }
  observe_final(context, address);
  if (by_host) wait_before_free(context, address, found->second);
  context.ranges.erase(found);
  context.memory.free(address);
  process().order.forget(address);
}

/// cuMemAllocAsync and the frees of its memory access all of it, in the order of their stream.
void replace_in_stream(ContextState& context, StreamState& stream, std::uint64_t address,
                       const char* call, const char* verb) {
  ProgramOrder& order = process().order;
  const Allocation* const allocation = std::as_const(context.memory).find(address);
  if (allocation == nullptr || allocation->address != address) return;
  process().pending.run_all();
  order.operate(context, stream, order.call(), [&] {
    order.describe(call, {}, verb);
    order.replace(context.memory, {allocation->address, allocation->bytes});
  });
}

PoolState& find_pool(MemoryPool pool) {
  const auto found = process().pools.find(pool);
  require(found != nullptr, Result::invalid_value, "not a memory pool");
  return *found;
}

Result allocate_device(DevicePointer* pointer, std::size_t bytes) {
  return call_context([&](ContextState& context) {
    require_pointer(pointer);
    refuse_in_capture(context, true);
    *pointer = allocate(context, bytes, {Origin::device, 0});
  });
}

Result allocate_host(void** pointer, std::size_t bytes, unsigned flags) {
  return call_context([&](ContextState& context) {
    require_pointer(pointer);
    refuse_in_capture(context, true);
    require(flags < 8, Result::invalid_value, "not flags of cuMemHostAlloc");
    *pointer = nullptr;
    if (bytes == 0) return;
    *pointer = reinterpret_cast<void*>(allocate(context, bytes, {Origin::pinned, flags}));
  });
}

/// The allocation that contains an address, and its origin. Module variables count as device
/// memory.
struct Found {
  const Allocation* allocation;
  Range range;
};
Found find(ContextState& context, std::uint64_t address, Result if_missing) {
  const Allocation* allocation = std::as_const(context.memory).find(address);
  if (allocation == nullptr) {
    fail(if_missing, fmt::format("{} is not in any allocation", context.memory.describe(address)));
  }
  const auto range = context.ranges.find(allocation->address);
  return {allocation, range == context.ranges.end() ? Range{} : range->second};
}

bool is_page_locked(const Found& found) {
  return found.range.origin == Origin::pinned || found.range.origin == Origin::registered;
}

Found find_page_locked(ContextState& context, void* pointer) {
  const Found found =
      find(context, reinterpret_cast<std::uint64_t>(pointer), Result::invalid_value);
  require(is_page_locked(found), Result::invalid_value, "not page-locked host memory");
  return found;
}

/// Checks the arguments of a hint on managed memory, which has no effect: all memory is accessible
/// everywhere.
void check_managed(ContextState& context, DevicePointer pointer, std::size_t bytes, Device device) {
  if (device != cpu_device) require_device(device);
  const Found found = find(context, pointer, Result::invalid_value);
  require(found.range.origin == Origin::managed, Result::invalid_value, "not managed memory");
  require(bytes <= found.allocation->bytes - (pointer - found.allocation->address),
          Result::invalid_value, "the range runs over the end of the allocation");
}

void require_no_overlap(ContextState& context, std::uint64_t begin, std::size_t bytes) {
  for (const auto& [address, range] : context.ranges) {
    const Allocation* other = std::as_const(context.memory).find(address);
    if (other == nullptr || address >= begin + bytes || begin >= address + other->bytes) continue;
    fail(range.origin == Origin::registered ? Result::host_memory_already_registered
                                            : Result::invalid_value,
         fmt::format("the range overlaps {}", context.memory.describe(address)));
  }
}

template <class T>
void store(void* to, T value) {
  *static_cast<T*>(to) = value;
}

}  // namespace

Result cuMemGetInfo(std::size_t* free, std::size_t* total) {
  return call_context([&](ContextState& context) {
    require_pointer(free);
    require_pointer(total);
    *total = context.memory.capacity();
    *free = context.memory.capacity() - context.memory.used();
  });
}

Result cuMemAlloc(DevicePointer* pointer, std::size_t bytes) {
  return allocate_device(pointer, bytes);
}

Result cuMemAllocAsync(DevicePointer* pointer, std::size_t bytes, Stream stream) {
  return call_context([&](ContextState& context) {
    require_pointer(pointer);
    require(find_stream(context, stream).capture == nullptr, Result::stream_capture_unsupported,
            "allocations cannot be captured here");
    refuse_in_capture(context, true);
    *pointer = 0;
    if (bytes == 0) return;
    *pointer = allocate(context, bytes, {Origin::device, 0, true});
    process().order.raise(ProgramOrder::Level::all);
    replace_in_stream(context, find_stream(context, stream), *pointer, "asynchronous allocation",
                      "allocates");
  });
}

Result cuMemPoolCreate(MemoryPool* pool, const MemoryPoolProperties* properties) {
  return call_driver([&] {
    require_pointer(pool);
    require_pointer(properties);
    require(properties->allocation == AllocationType::pinned && properties->handle_types == 0 &&
                properties->location == MemoryLocationType::device && properties->usage == 0,
            Result::not_supported, "a pool of another kind than a device's own memory");
    require(properties->device == 0, Result::invalid_device, "the one device is 0");
    for (const auto& [handle, context] : process().contexts) refuse_in_capture(*context, true);
    *pool = process().pools.add(std::make_shared<PoolState>());
  });
}

Result cuMemPoolSetAttribute(MemoryPool pool, MemoryPoolAttribute attribute, void* value) {
  return call_driver([&] {
    require_pointer(value);
    require(attribute == MemoryPoolAttribute::release_threshold, Result::not_supported,
            "an attribute other than the release threshold");
    find_pool(pool).release_threshold = *static_cast<const std::uint64_t*>(value);
  });
}

/// Allocations from the pool stay valid until they are freed.
Result cuMemPoolDestroy(MemoryPool pool) {
  return call_driver([&] {
    find_pool(pool);
    process().pools.remove(pool);
  });
}

Result cuMemPoolTrimTo(MemoryPool pool, std::size_t /*bytes_to_keep*/) {
  return call_driver([&] { find_pool(pool); });
}

Result cuMemAllocFromPoolAsync(DevicePointer* pointer, std::size_t bytes, MemoryPool pool,
                               Stream stream) {
  const Result found = call_driver([&] { find_pool(pool); });
  return found == Result::success ? cuMemAllocAsync(pointer, bytes, stream) : found;
}

Result cuMemAllocPitch(DevicePointer* pointer, std::size_t* pitch, std::size_t width_bytes,
                       std::size_t height, unsigned element_bytes) {
  return call_context([&](ContextState& context) {
    require_pointer(pointer);
    require_pointer(pitch);
    refuse_in_capture(context, true);
    require(element_bytes == 4 || element_bytes == 8 || element_bytes == 16, Result::invalid_value,
            "element size: one of 4, 8, 16 bytes");
    require(width_bytes != 0 && height != 0, Result::invalid_value, "an allocation of 0 bytes");
    require(width_bytes <= context.memory.capacity() &&
                height <= context.memory.capacity() / width_bytes,
            Result::out_of_memory, "larger than the device's memory");
    const std::size_t row = (width_bytes + pitch_alignment - 1) / pitch_alignment * pitch_alignment;
    *pointer = allocate(context, row * height, {Origin::device, 0});
    *pitch = row;
  });
}

Result cuMemFree(DevicePointer pointer) {
  return call_context([&](ContextState& context) {
    process().pending.run_all();
    flush_printed(context);
    refuse_in_capture(context, true);
    release(context, pointer, Origin::device, Origin::managed);
  });
}

Result cuMemFreeAsync(DevicePointer pointer, Stream stream) {
  return call_context([&](ContextState& context) {
    require(find_stream(context, stream).capture == nullptr, Result::stream_capture_unsupported,
            "frees cannot be captured here");
    const auto range = context.ranges.find(pointer);
    require(range == context.ranges.end() || range->second.origin == Origin::device,
            Result::not_supported, "only device memory is freed in a stream");
    replace_in_stream(context, find_stream(context, stream), pointer, "asynchronous free", "frees");
    release(context, pointer, Origin::device, Origin::device, false);
  });
}

Result cuMemAllocManaged(DevicePointer* pointer, std::size_t bytes, unsigned flags) {
  return call_context([&](ContextState& context) {
    require_pointer(pointer);
    refuse_in_capture(context, true);
    require(flags == cuda::attach_global || flags == cuda::attach_host, Result::invalid_value,
            "flags: CU_MEM_ATTACH_GLOBAL or CU_MEM_ATTACH_HOST");
    *pointer = allocate(context, bytes, {Origin::managed, flags});
  });
}

Result cuMemGetAddressRange(DevicePointer* base, std::size_t* bytes, DevicePointer pointer) {
  return call_context([&](ContextState& context) {
    const Found found = find(context, pointer, Result::not_found);
    if (base != nullptr) *base = found.allocation->address;
    if (bytes != nullptr) *bytes = found.allocation->bytes;
  });
}

Result cuMemAllocHost(void** pointer, std::size_t bytes) {
  return allocate_host(pointer, bytes, 0);
}

Result cuMemHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
  return allocate_host(pointer, bytes, flags);
}

Result cuMemFreeHost(void* pointer) {
  return call_context([&](ContextState& context) {
    refuse_in_capture(context, true);
    release(context, reinterpret_cast<std::uint64_t>(pointer), Origin::pinned, Origin::pinned);
  });
}

Result cuMemHostGetDevicePointer(DevicePointer* pointer, void* host, unsigned flags) {
  return call_context([&](ContextState& context) {
    require_pointer(pointer);
    require(flags == 0, Result::invalid_value, "flags must be 0");
    find_page_locked(context, host);
    *pointer = reinterpret_cast<std::uint64_t>(host);
  });
}

Result cuMemHostGetFlags(unsigned* flags, void* host) {
  return call_context([&](ContextState& context) {
    require_pointer(flags);
    *flags = find_page_locked(context, host).range.flags | cuda::host_alloc_device_map;
  });
}

Result cuMemHostRegister(void* pointer, std::size_t bytes, unsigned flags) {
  return call_context([&](ContextState& context) {
    refuse_in_capture(context, true);
    require(pointer != nullptr && bytes != 0, Result::invalid_value, "no memory to register");
    require(flags < 16, Result::invalid_value, "not flags of cuMemHostRegister");
    const auto address = reinterpret_cast<std::uint64_t>(pointer);
    require_no_overlap(context, address, bytes);
    const bool is_io = (flags & cuda::host_register_io_memory) != 0;
    context.memory.adopt(pointer, bytes, is_io);
    context.ranges[address] = {Origin::registered, flags};
    process().order.raise(ProgramOrder::Level::host_memory);
  });
}

Result cuMemHostUnregister(void* pointer) {
  return call_context([&](ContextState& context) {
    refuse_in_capture(context, true);
    const auto address = reinterpret_cast<std::uint64_t>(pointer);
    const auto found = context.ranges.find(address);
    if (found == context.ranges.end() || found->second.origin != Origin::registered) {
      const bool inside = std::as_const(context.memory).find(address) != nullptr;
      fail(inside ? Result::invalid_value : Result::host_memory_not_registered,
           "not the beginning of registered memory");
    }
    process().pending.run_all();
    process().order.synchronize_all();
    context.ranges.erase(found);
    context.memory.release_adopted(pointer);
    process().order.forget(address);
  });
}

Result cuMemPrefetchAsync(DevicePointer pointer, std::size_t bytes, Device device, Stream stream) {
  return call_context([&](ContextState& context) {
    check_managed(context, pointer, bytes, device);
    enqueue(context, stream, [](ContextState&) {});
  });
}

Result cuMemAdvise(DevicePointer pointer, std::size_t bytes, MemoryAdvice advice, Device device) {
  return call_context([&](ContextState& context) {
    require(advice >= MemoryAdvice::set_read_mostly && advice <= MemoryAdvice::unset_accessed_by,
            Result::invalid_value, "not an advice");
    check_managed(context, pointer, bytes, device);
  });
}

Result cuPointerGetAttribute(void* value, PointerAttribute attribute, DevicePointer pointer) {
  return call_context([&](ContextState& context) {
    require_pointer(value);
    const Found found = find(context, pointer, Result::invalid_value);
    const Allocation& allocation = *found.allocation;
    const bool on_device = found.range.origin == Origin::device;
    switch (attribute) {
      case PointerAttribute::context: return store(value, context.handle);
      case PointerAttribute::memory_type:
        return store(value, is_page_locked(found) ? MemoryType::host : MemoryType::device);
      case PointerAttribute::device_pointer: return store(value, pointer);
      case PointerAttribute::host_pointer:
        require(!on_device, Result::invalid_value, "device memory has no host pointer");
        return store(value, reinterpret_cast<void*>(pointer));
      case PointerAttribute::buffer_id:
        return store(value, static_cast<unsigned long long>(
                                allocation.serial != 0 ? allocation.serial : allocation.address));
      case PointerAttribute::is_managed:
        return store(value, found.range.origin == Origin::managed ? 1 : 0);
      case PointerAttribute::device_ordinal: return store(value, 0);
      case PointerAttribute::range_start_addr: return store(value, allocation.address);
      case PointerAttribute::range_size: return store(value, allocation.bytes);
      case PointerAttribute::mapped: return store(value, 1);
    }
    fail(Result::invalid_value,
         fmt::format("the virtual GPU has no pointer attribute {}", static_cast<int>(attribute)));
  });
}

}  // namespace rung::vgpu::driver

namespace rung::vgpu {

cuda::Result replace_graph_memory(cuda::DevicePointer memory, bool frees, cuda::Stream stream) {
  using namespace driver;
  return call_context([&](ContextState& context) {
    enqueue(context, stream, [=](ContextState& running) {
      const Allocation* const allocation = std::as_const(running.memory).find(memory);
      if (allocation == nullptr) return;
      ProgramOrder& order = process().order;
      order.describe(frees ? "asynchronous free" : "asynchronous allocation", {},
                     frees ? "frees" : "allocates");
      order.replace(running.memory, {allocation->address, allocation->bytes});
    });
  });
}

}  // namespace rung::vgpu
