#include "vgpu/observers/bulk_traffic.hpp"

#include <algorithm>

#include "vgpu/engine/execution/worker.hpp"
#include "vgpu/model/banks.hpp"

namespace rung::vgpu {
namespace {

constexpr std::uint64_t line_bytes = 128;

void count_at_site(Worker& worker, std::uint32_t site, const BulkTraffic& traffic) {
  ++worker.accesses[site].requests;
  worker.accesses[site].units += traffic.units(sector_bytes);
}

}  // namespace

void BulkTraffic::add(std::uint64_t address, std::uint32_t bytes) {
  if (bytes == 0) return;
  // Rows of a box come in this order, but for planes that overlap.
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
  std::uint64_t count = 0, next = 0;  // the first unit behind those counted
  for (const Range& range : ranges_) {
    const std::uint64_t begin = std::max(range.begin / size, next);
    const std::uint64_t end = (range.end + size - 1) / size;
    if (end <= begin) continue;
    count += end - begin;
    next = end;
  }
  return count;
}

void count_bulk_load(Worker& worker, std::uint32_t site, const BulkTraffic& traffic,
                     std::uint64_t written, std::uint64_t read) {
  if (!worker.observe) return;
  count_at_site(worker, site, traffic);
  Counters& counters = worker.apart;
  counters.bulk_load_bytes += traffic.bytes();
  counters.bulk_load_lines += traffic.units(line_bytes);
  counters.bulk_shared_store_bytes += written;
  counters.bulk_shared_load_bytes += read;
}

void count_bulk_store(Worker& worker, std::uint32_t site, const BulkTraffic& traffic) {
  if (!worker.observe) return;
  count_at_site(worker, site, traffic);
  Counters& counters = worker.apart;
  counters.bulk_store_bytes += traffic.bytes();
  counters.bulk_store_lines += traffic.units(line_bytes);
  counters.bulk_shared_load_bytes += traffic.bytes();
}

}  // namespace rung::vgpu
