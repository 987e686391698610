#include "vgpu/observers/bulk_counts.hpp"

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

void count_bulk_load(Worker& worker, std::uint32_t site, const BulkTraffic& traffic,
                     std::uint64_t written, std::uint64_t read) {
  count_at_site(worker, site, traffic);
  Counters& counters = worker.apart;
  counters.bulk_load_bytes += traffic.bytes();
  counters.bulk_load_lines += traffic.units(line_bytes);
  counters.bulk_shared_store_bytes += written;
  counters.bulk_shared_load_bytes += read;
}

void count_bulk_store(Worker& worker, std::uint32_t site, const BulkTraffic& traffic) {
  count_at_site(worker, site, traffic);
  Counters& counters = worker.apart;
  counters.bulk_store_bytes += traffic.bytes();
  counters.bulk_store_lines += traffic.units(line_bytes);
  counters.bulk_shared_load_bytes += traffic.bytes();
}

}  // namespace rung::vgpu
