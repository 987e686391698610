#include "vgpu/memory/device_addresses.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <new>

namespace rung::vgpu {
namespace {

constexpr std::size_t page = 4096;  // at least the CPU's page size
// Allocations share regions, because Linux limits a process to about 65,000 mappings.
constexpr std::size_t region_bytes = std::size_t{1} << 36;
constexpr std::size_t max_regions = 2048;  // covers 47 bits of addresses

/// A mapping without access rights. `next` and `ranges` require the mutex.
struct Region {
  std::atomic<std::uint64_t> begin = 0, end = 0;  // equal: no region
  std::uint64_t next = 0;                         // addresses from here on are free
  std::size_t ranges = 0;
};

constinit std::array<Region, max_regions> regions;
std::atomic<std::size_t> used_regions = 0;  // higher indices are unused
std::size_t current = 0;
std::mutex mutex;

std::uint64_t reserved(std::size_t bytes) {
  void* const begin =
      mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return begin == MAP_FAILED ? 0 : reinterpret_cast<std::uint64_t>(begin);
}

void open_region(std::size_t bytes) {
  const auto closed = std::find_if(regions.begin(), regions.end(),
                                   [](const Region& region) { return region.end == 0; });
  if (closed == regions.end()) throw std::bad_alloc();
  std::size_t size = std::max(bytes, region_bytes);
  std::uint64_t begin = reserved(size);
  while (begin == 0) {  // the process may have a limit on addresses (ulimit -v)
    if (size == bytes) throw std::bad_alloc();
    size = std::max(bytes, size / 2);
    begin = reserved(size);
  }
  closed->next = begin;
  closed->begin = begin;
  closed->end = begin + size;
  current = static_cast<std::size_t>(closed - regions.begin());
  used_regions = std::max<std::size_t>(used_regions, current + 1);
}

}  // namespace

DeviceAddresses::DeviceAddresses(std::size_t bytes) : bytes_((bytes + page - 1) / page * page) {
  const std::lock_guard lock(mutex);
  if (bytes_ > regions[current].end - regions[current].next) open_region(bytes_);
  Region& region = regions[current];
  ++region.ranges;
  region_ = current;
  begin_ = region.next;
  region.next += bytes_;
}

DeviceAddresses::~DeviceAddresses() {
  const std::lock_guard lock(mutex);
  Region& region = regions[region_];
  if (begin_ + bytes_ == region.next) region.next = begin_;
  if (--region.ranges != 0) return;
  munmap(reinterpret_cast<void*>(region.begin.load()), region.end - region.begin);
  region.next = 0;
  region.begin = region.end = 0;
}

bool is_device_address(std::uint64_t address) {
  for (std::size_t i = 0; i < used_regions; ++i) {
    if (address >= regions[i].begin && address < regions[i].end) return true;
  }
  return false;
}

}  // namespace rung::vgpu
