#pragma once
// What bulk copies cost: the global memory that they touch, and bytes of shared memory. They are
// one thread's instructions, and none of a warp's requests.

#include <cstdint>
#include <vector>

namespace rung::vgpu {

class Worker;

/// The global memory that one copy touches, range by range.
class BulkTraffic {
 public:
  void add(std::uint64_t address, std::uint32_t bytes);

  std::uint64_t bytes() const;
  /// Aligned units of that many bytes that the ranges touch, each once.
  std::uint64_t units(std::uint64_t size) const;

 private:
  struct Range {
    std::uint64_t begin, end;
  };
  std::vector<Range> ranges_;  // by their beginning
};

/// A copy into shared memory: `written` bytes there, of all blocks that it goes to; `read` bytes if
/// it comes from there.
void count_bulk_load(Worker& worker, std::uint32_t site, const BulkTraffic& traffic,
                     std::uint64_t written, std::uint64_t read);
/// A copy out of shared memory.
void count_bulk_store(Worker& worker, std::uint32_t site, const BulkTraffic& traffic);

}  // namespace rung::vgpu
