#pragma once
// The traffic of bulk copies: global memory accessed, and bytes of shared memory. Each is issued by
// one thread, and is not a request of a warp.

#include <cstdint>
#include <vector>

namespace rung::vgpu {

class Worker;

/// The global memory that one copy accesses, range by range.
class BulkTraffic {
 public:
  void add(std::uint64_t address, std::uint32_t bytes);

  std::uint64_t bytes() const;
  /// Aligned units of that many bytes that the ranges touch, each counted once.
  std::uint64_t units(std::uint64_t size) const;

 private:
  struct Range {
    std::uint64_t begin, end;
  };
  std::vector<Range> ranges_;  // by their beginning
};

/// A copy into shared memory: `written` bytes there, over all destination blocks; `read` bytes if
/// it comes from shared memory.
void count_bulk_load(Worker& worker, std::uint32_t site, const BulkTraffic& traffic,
                     std::uint64_t written, std::uint64_t read);
/// A copy from shared memory.
void count_bulk_store(Worker& worker, std::uint32_t site, const BulkTraffic& traffic);

}  // namespace rung::vgpu
