#pragma once
// Counts the traffic of bulk copies: global memory accessed, and bytes of shared memory. A copy is
// issued by one thread; it is not a request of a warp.

#include <cstdint>

#include "vgpu/model/bulk_traffic.hpp"

namespace rung::vgpu {

class Worker;

/// Counts a copy into shared memory: `written` bytes over all destination blocks, and `read` bytes
/// if the source is in shared memory.
void count_bulk_load(Worker& worker, std::uint32_t site, const BulkTraffic& traffic,
                     std::uint64_t written, std::uint64_t read);
/// Counts a copy from shared memory.
void count_bulk_store(Worker& worker, std::uint32_t site, const BulkTraffic& traffic);

}  // namespace rung::vgpu
