// Virtual memory management. Reserved addresses are an allocation of the virtual GPU. Mapping physical
// memory there is bookkeeping and a copy of its contents from its previous addresses.

#include <map>
#include <mutex>
#include <vector>

#include "emu/runtime/driver_api/from_runtime.hpp"

using namespace rung::emu;
using namespace rung::emu::driver_api;

namespace {

constexpr std::size_t granularity = std::size_t{2} << 20;

struct Physical {
  std::size_t bytes;
  CUmemAllocationProp properties;
  int references = 1;
  CUdeviceptr mapped_at = 0;
  std::vector<char> contents = {};  // while it is not mapped; empty if it never was
};
struct Mapping {
  CUmemGenericAllocationHandle handle;
  std::size_t bytes;
  unsigned long long access = CU_MEM_ACCESS_FLAGS_PROT_NONE;
};
struct Books {
  std::mutex mutex;
  std::map<CUdeviceptr, std::size_t> reservations;
  std::map<CUmemGenericAllocationHandle, Physical> memory;
  std::map<CUdeviceptr, Mapping> mappings;
  CUmemGenericAllocationHandle next = 1;
};

Books& books() {
  static auto& only = *new Books;
  return only;
}

bool is_multiple(std::size_t bytes) { return bytes != 0 && bytes % granularity == 0; }

/// The entry of a map of ranges that contains the address; the map's end if none does.
template <class Ranges, class Bytes>
auto containing(Ranges& ranges, CUdeviceptr address, const Bytes& bytes_of) {
  auto found = ranges.upper_bound(address);
  if (found == ranges.begin()) return ranges.end();
  --found;
  return address - found->first < bytes_of(found->second) ? found : ranges.end();
}
auto reservation(Books& all, CUdeviceptr address) {
  return containing(all.reservations, address, [](std::size_t bytes) { return bytes; });
}
auto mapping(Books& all, CUdeviceptr address) {
  return containing(all.mappings, address, [](const Mapping& it) { return it.bytes; });
}

/// The mappings that together are the range; none if one of them is cut, or there is a gap.
std::vector<CUdeviceptr> mappings_of(Books& all, CUdeviceptr begin, std::size_t bytes) {
  std::vector<CUdeviceptr> found;
  for (CUdeviceptr at = begin; at < begin + bytes;) {
    const auto one = all.mappings.find(at);
    if (one == all.mappings.end() || at + one->second.bytes > begin + bytes) return {};
    found.push_back(at);
    at += one->second.bytes;
  }
  return found;
}

void forget_if_unused(Books& all, CUmemGenericAllocationHandle handle) {
  const Physical& memory = all.memory.at(handle);
  if (memory.references == 0 && memory.mapped_at == 0) all.memory.erase(handle);
}

bool is_device_memory(const CUmemAllocationProp* properties) {
  return properties != nullptr && properties->type == CU_MEM_ALLOCATION_TYPE_PINNED &&
         properties->location.type == CU_MEM_LOCATION_TYPE_DEVICE && properties->location.id == 0;
}

}  // namespace

extern "C" {

CUresult cuMemGetAllocationGranularity(size_t* bytes, const CUmemAllocationProp* properties,
                                       CUmemAllocationGranularity_flags /*which*/) {
  if (bytes == nullptr || !is_device_memory(properties)) return CUDA_ERROR_INVALID_VALUE;
  *bytes = granularity;
  return CUDA_SUCCESS;
}

CUresult cuMemAddressReserve(CUdeviceptr* pointer, size_t bytes, size_t alignment,
                             CUdeviceptr /*wanted*/, unsigned long long flags) {
  const bool is_power = (alignment & (alignment - 1)) == 0;
  if (pointer == nullptr || !is_multiple(bytes) || !is_power || flags != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const auto result =
      driver().cuMemAlloc(reinterpret_cast<rung::cuda::DevicePointer*>(pointer), bytes);
  if (result != rung::cuda::Result::success) return to_result(result);
  const std::lock_guard lock(books().mutex);
  books().reservations[*pointer] = bytes;
  return CUDA_SUCCESS;
}

CUresult cuMemAddressFree(CUdeviceptr pointer, size_t bytes) {
  const std::lock_guard lock(books().mutex);
  const auto found = books().reservations.find(pointer);
  if (found == books().reservations.end() || found->second != bytes) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const auto mapped = books().mappings.lower_bound(pointer);
  if (mapped != books().mappings.end() && mapped->first < pointer + bytes) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  books().reservations.erase(found);
  return to_result(driver().cuMemFree(pointer));
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, size_t bytes,
                     const CUmemAllocationProp* properties, unsigned long long flags) {
  if (handle == nullptr || !is_multiple(bytes) || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (!is_device_memory(properties)) return CUDA_ERROR_INVALID_DEVICE;
  std::size_t free = 0, total = 0;
  const auto result = driver().cuMemGetInfo(&free, &total);
  if (result != rung::cuda::Result::success) return to_result(result);
  if (bytes > total) return CUDA_ERROR_OUT_OF_MEMORY;
  const std::lock_guard lock(books().mutex);
  *handle = books().next++;
  books().memory[*handle] = {bytes, *properties};
  return CUDA_SUCCESS;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  const std::lock_guard lock(books().mutex);
  const auto found = books().memory.find(handle);
  if (found == books().memory.end() || found->second.references == 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  --found->second.references;
  forget_if_unused(books(), handle);
  return CUDA_SUCCESS;
}

CUresult cuMemMap(CUdeviceptr pointer, size_t bytes, size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long flags) {
  const std::lock_guard lock(books().mutex);
  const auto found = books().memory.find(handle);
  const auto range = reservation(books(), pointer);
  if (found == books().memory.end() || found->second.references == 0 || offset != 0 || flags != 0 ||
      bytes != found->second.bytes || range == books().reservations.end() ||
      (pointer - range->first) % granularity != 0 ||
      pointer + bytes > range->first + range->second) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const auto behind = books().mappings.lower_bound(pointer);
  if (mapping(books(), pointer) != books().mappings.end() ||
      (behind != books().mappings.end() && behind->first < pointer + bytes)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  Physical& memory = found->second;
  if (memory.mapped_at != 0) return CUDA_ERROR_NOT_SUPPORTED;
  if (!memory.contents.empty()) {
    const auto result = driver().cuMemcpyHtoD(pointer, memory.contents.data(), bytes);
    if (result != rung::cuda::Result::success) return to_result(result);
  }
  memory.contents = {};
  memory.mapped_at = pointer;
  books().mappings[pointer] = {handle, bytes};
  return CUDA_SUCCESS;
}

CUresult cuMemUnmap(CUdeviceptr pointer, size_t bytes) {
  const std::lock_guard lock(books().mutex);
  const std::vector<CUdeviceptr> found = mappings_of(books(), pointer, bytes);
  if (found.empty()) return CUDA_ERROR_INVALID_VALUE;
  for (const CUdeviceptr at : found) {
    const Mapping one = books().mappings.at(at);
    Physical& memory = books().memory.at(one.handle);
    if (memory.references > 0) {
      memory.contents.resize(one.bytes);
      const auto result = driver().cuMemcpyDtoH(memory.contents.data(), at, one.bytes);
      if (result != rung::cuda::Result::success) return to_result(result);
    }
    memory.mapped_at = 0;
    books().mappings.erase(at);
    forget_if_unused(books(), one.handle);
  }
  return CUDA_SUCCESS;
}

CUresult cuMemSetAccess(CUdeviceptr pointer, size_t bytes, const CUmemAccessDesc* list,
                        size_t count) {
  const std::lock_guard lock(books().mutex);
  const std::vector<CUdeviceptr> found = mappings_of(books(), pointer, bytes);
  if (found.empty() || list == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
  for (std::size_t i = 0; i < count; ++i) {
    if (list[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_NOT_SUPPORTED;
    if (list[i].location.id != 0) return CUDA_ERROR_INVALID_DEVICE;
    for (const CUdeviceptr at : found) books().mappings.at(at).access = list[i].flags;
  }
  return CUDA_SUCCESS;
}

CUresult cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location,
                        CUdeviceptr pointer) {
  const std::lock_guard lock(books().mutex);
  const auto found = mapping(books(), pointer);
  if (flags == nullptr || location == nullptr || found == books().mappings.end()) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *flags = found->second.access;
  return CUDA_SUCCESS;
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* pointer) {
  const std::lock_guard lock(books().mutex);
  const auto found = mapping(books(), device_pointer(pointer));
  if (handle == nullptr || found == books().mappings.end()) return CUDA_ERROR_INVALID_VALUE;
  *handle = found->second.handle;
  ++books().memory.at(*handle).references;
  return CUDA_SUCCESS;
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* properties,
                                                CUmemGenericAllocationHandle handle) {
  const std::lock_guard lock(books().mutex);
  const auto found = books().memory.find(handle);
  if (properties == nullptr || found == books().memory.end()) return CUDA_ERROR_INVALID_VALUE;
  *properties = found->second.properties;
  return CUDA_SUCCESS;
}

CUresult cuMemExportToShareableHandle(void* /*shareable*/, CUmemGenericAllocationHandle /*handle*/,
                                      CUmemAllocationHandleType /*type*/,
                                      unsigned long long /*flags*/) {
  return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* /*handle*/,
                                        void* /*shareable*/, CUmemAllocationHandleType /*type*/) {
  return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuMulticastCreate(CUmemGenericAllocationHandle* /*handle*/,
                           const CUmulticastObjectProp* /*properties*/) {
  return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuMulticastAddDevice(CUmemGenericAllocationHandle /*handle*/, CUdevice /*device*/) {
  return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuMulticastBindMem(CUmemGenericAllocationHandle /*handle*/, size_t /*offset*/,
                            CUmemGenericAllocationHandle /*memory*/, size_t /*memory_offset*/,
                            size_t /*bytes*/, unsigned long long /*flags*/) {
  return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuMulticastBindAddr(CUmemGenericAllocationHandle /*handle*/, size_t /*offset*/,
                             CUdeviceptr /*pointer*/, size_t /*bytes*/,
                             unsigned long long /*flags*/) {
  return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuMulticastUnbind(CUmemGenericAllocationHandle /*handle*/, CUdevice /*device*/,
                           size_t /*offset*/, size_t /*bytes*/) {
  return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuMulticastGetGranularity(size_t* /*bytes*/, const CUmulticastObjectProp* /*properties*/,
                                   CUmulticastGranularity_flags /*which*/) {
  return CUDA_ERROR_NOT_SUPPORTED;
}

}  // extern "C"
