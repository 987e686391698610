// Computes the counters of a launch from its workers' counts per basic block and per instruction.

#include <algorithm>

#include "vgpu/engine/execution/worker.hpp"

namespace rung::vgpu {
namespace {

void add_site(const Site& site, const SiteCounters& counted, const Worker::Accesses& accesses,
              Counters& total) {
  total.instructions += counted.executions;
  total.thread_instructions += counted.lanes;
  total.tensor_multiply_adds += counted.lanes * site.multiply_adds;
  total.wgmma_shared_load_bytes += counted.lanes * site.wgmma_bytes;
  switch (site.role) {
    case SiteRole::global_load:
      total.global_load_requests += accesses.requests;
      total.global_load_sectors += counted.units;
      break;
    case SiteRole::global_store:
      total.global_store_requests += accesses.requests;
      total.global_store_sectors += counted.units;
      break;
    case SiteRole::global_atomic: total.global_atomics += accesses.requests; break;
    case SiteRole::shared_load:
      total.shared_load_requests += accesses.requests;
      total.shared_load_wavefronts += counted.units;
      total.issued_shared_load_requests += accesses.issued_requests;
      total.issued_shared_load_wavefronts += accesses.issued_wavefronts;
      break;
    case SiteRole::shared_store:
      total.shared_store_requests += accesses.requests;
      total.shared_store_wavefronts += counted.units;
      total.issued_shared_store_requests += accesses.issued_requests;
      total.issued_shared_store_wavefronts += accesses.issued_wavefronts;
      break;
    case SiteRole::shared_atomic: total.shared_atomics += accesses.requests; break;
    case SiteRole::local_load: total.local_load_requests += accesses.requests; break;
    case SiteRole::local_store: total.local_store_requests += accesses.requests; break;
    case SiteRole::ffma: total.ffma += counted.lanes; break;
    case SiteRole::barrier: total.barriers += counted.executions; break;
    case SiteRole::branch: total.branches += counted.executions; break;
    case SiteRole::bulk_load:
      total.bulk_loads += accesses.requests;
      total.bulk_load_sectors += counted.units;
      break;
    case SiteRole::bulk_store:
      total.bulk_stores += accesses.requests;
      total.bulk_store_sectors += counted.units;
      break;
    case SiteRole::other: break;
  }
}

}  // namespace

void add_up(const std::vector<std::unique_ptr<Worker>>& workers, LaunchReport& report) {
  for (const auto& worker : workers) worker->count_batches();
  const Kernel& kernel = workers.front()->kernel;
  const auto sum = [&](auto member, std::size_t block) {
    std::uint64_t total = 0;
    for (const auto& worker : workers) total += worker->executions[block].*member;
    return total;
  };
  using Executions = Worker::Executions;
  report.per_site.assign(kernel.sites.size(), {});
  for (std::size_t i = 0; i < kernel.sites.size(); ++i) {
    SiteCounters& site = report.per_site[i];
    const std::uint32_t block = kernel.block_of_site[i];
    if (block == Kernel::no_site) continue;  // unreachable
    site.executions = sum(&Executions::times, block);
    site.lanes = site.executions * warp_size - sum(&Executions::idle_lanes, block);
    Worker::Accesses accesses;
    for (const auto& worker : workers) {
      accesses += worker->accesses[i];
      site.lanes -= worker->predicated_off[i];
    }
    site.units = accesses.units;
    add_site(kernel.sites[i], site, accesses, report.counters);
  }
  for (const auto& worker : workers) report.counters += worker->apart;
  // Operands of wgmma consist of 8 x 16-byte core matrices, which are free of bank conflicts with
  // every swizzle.
  constexpr std::uint64_t wavefront_bytes = 128;
  report.counters.wgmma_shared_load_wavefronts =
      report.counters.wgmma_shared_load_bytes / wavefront_bytes;
  for (std::size_t i = 0; i < kernel.blocks.size(); ++i) {
    report.counters.divergent_branches += sum(&Executions::divergent, i);
  }
}

}  // namespace rung::vgpu
