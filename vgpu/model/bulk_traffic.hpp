#pragma once
// Records the global memory that bulk copies access.

#include <cstdint>
#include <vector>

namespace rung::vgpu {

/// The global memory that one copy accesses, as ranges.
class BulkTraffic {
 public:
  void add(std::uint64_t address, std::uint32_t bytes);

  std::uint64_t bytes() const;
  /// Number of aligned units of `size` bytes that the ranges touch, each counted once.
  std::uint64_t units(std::uint64_t size) const;

 private:
  struct Range {
    std::uint64_t begin, end;
  };
  std::vector<Range> ranges_;  // sorted by begin
};

}  // namespace rung::vgpu
