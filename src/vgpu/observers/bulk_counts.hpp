#pragma once
// What bulk copies cost: the global memory that they touch, and bytes of shared memory. They are
// one thread's instructions, and none of a warp's requests.

#include <cstdint>

#include "vgpu/model/bulk_traffic.hpp"

namespace rung::vgpu {

class Worker;

/// A copy into shared memory: `written` bytes there, of all blocks that it goes to; `read` bytes if
/// it comes from there.
void count_bulk_load(Worker& worker, std::uint32_t site, const BulkTraffic& traffic,
                     std::uint64_t written, std::uint64_t read);
/// A copy out of shared memory.
void count_bulk_store(Worker& worker, std::uint32_t site, const BulkTraffic& traffic);

}  // namespace rung::vgpu
