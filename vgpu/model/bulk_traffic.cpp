#include "vgpu/model/bulk_traffic.hpp"

#include <algorithm>

namespace rung::vgpu {

void BulkTraffic::add(std::uint64_t address, std::uint32_t bytes) {
  if (bytes == 0) return;
  // Rows of a box arrive in ascending order, except for overlapping planes.
  if (ranges_.empty() || ranges_.back().begin <= address) {
    ranges_.push_back({address, address + bytes});
    return;
  }
  const auto after =
      std::upper_bound(ranges_.begin(), ranges_.end(), address,
                       [](std::uint64_t begin, const Range& range) { return begin < range.begin; });
  ranges_.insert(after, {address, address + bytes});
}

std::uint64_t BulkTraffic::bytes() const {
  std::uint64_t sum = 0;
  for (const Range& range : ranges_) sum += range.end - range.begin;
  return sum;
}

std::uint64_t BulkTraffic::units(std::uint64_t size) const {
  std::uint64_t count = 0, next = 0;  // next: first unit not counted yet
  for (const Range& range : ranges_) {
    const std::uint64_t begin = std::max(range.begin / size, next);
    const std::uint64_t end = (range.end + size - 1) / size;
    if (end <= begin) continue;
    count += end - begin;
    next = end;
  }
  return count;
}

}  // namespace rung::vgpu
