#pragma once
// The traffic of bulk copies: global memory accessed, and bytes of shared memory. Each is issued by
// one thread, and is not a request of a warp.

#include <cstdint>

#include "vgpu/model/bulk_traffic.hpp"

namespace rung::vgpu {

class Worker;

/// A copy into shared memory: `written` bytes there, over all destination blocks; `read` bytes if
/// it comes from shared memory.
void count_bulk_load(Worker& worker, std::uint32_t site, const BulkTraffic& traffic,
                     std::uint64_t written, std::uint64_t read);
/// A copy from shared memory.
void count_bulk_store(Worker& worker, std::uint32_t site, const BulkTraffic& traffic);

}  // namespace rung::vgpu
