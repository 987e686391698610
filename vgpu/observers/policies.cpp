#include "vgpu/observers/policies.hpp"

#include "vgpu/observers/access_watch.hpp"
#include "vgpu/observers/async_races.hpp"
#include "vgpu/observers/bulk_counts.hpp"
#include "vgpu/observers/bulk_races.hpp"
#include "vgpu/observers/coalescing.hpp"
#include "vgpu/observers/early_access.hpp"
#include "vgpu/observers/global_races.hpp"
#include "vgpu/observers/shared_races.hpp"

namespace rung::vgpu::observers {

const Observers& none() {
  static constexpr Observers policy;
  return policy;
}

const Observers& full() {
  static constexpr Observers policy = {
      .count_shared = vgpu::count_shared,
      .check_reads = vgpu::check_reads,
      .check_writes = vgpu::check_writes,
      .check_read_shared = vgpu::check_read_shared,
      .is_undefined_read = vgpu::is_undefined_read,
      .log_read = vgpu::log_read,
      .log_reads = vgpu::log_reads,
      .settle_reads = vgpu::settle_reads,
      .settle_reads_before = vgpu::settle_reads_before,
      .write_shared = vgpu::write_shared,
      .atomic_shared = vgpu::atomic_shared,
      .write_shared_pending = vgpu::write_shared_pending,
      .complete_pending = vgpu::complete_pending,
      .write_shared_once = vgpu::write_shared_once,
      .observe_global = vgpu::observe_global,
      .check_global = vgpu::check_global,
      .release_by = vgpu::release_by,
      .acquire_by = vgpu::acquire_by,
      .observe_fence = vgpu::observe_fence,
      .observe_grid_wait = vgpu::observe_grid_wait,
      .early_lanes = vgpu::early_lanes,
      .report_early_access = vgpu::report_early_access,
      .settle_grid_waits = vgpu::settle_grid_waits,
      .check_async_read = vgpu::check_async_read,
      .check_async_write = vgpu::check_async_write,
      .note_async_read = vgpu::note_async_read,
      .note_async_write = vgpu::note_async_write,
      .check_bulk_read = vgpu::check_bulk_read,
      .note_bulk_write = vgpu::note_bulk_write,
      .complete_bulk_write = vgpu::complete_bulk_write,
      .count_bulk_load = vgpu::count_bulk_load,
      .count_bulk_store = vgpu::count_bulk_store,
      .tell_access = vgpu::tell_access,
  };
  return policy;
}

}  // namespace rung::vgpu::observers
