#include "vgpu/observers/early_access.hpp"

#include <algorithm>

#include "vgpu/engine/async/async_state.hpp"
#include "vgpu/engine/execution/cluster.hpp"
#include "vgpu/engine/execution/report.hpp"
#include "vgpu/memory/launch_accesses.hpp"

namespace rung::vgpu {
namespace {

/// True if the griddepcontrol.wait of warp `other` of block `from` is ordered before this lane's
/// next access.
bool is_ordered_after(const Warp& warp, int lane, const Block& from, std::size_t other) {
  const Stamp wait = from.grid_waits[other];
  if (wait == 0) return false;
  Block& own = *warp.block;
  if (&from == &own) return own.order.ordered(wait, own.thread(warp, lane));
  if (own.async == nullptr) return false;  // has no cluster barriers either
  AsyncOrder& order = own.cluster.order;
  const Clock& clock = order.of(own.rank, warp.index);
  return clock[order.segments(from.rank, static_cast<int>(other))] >= stamp_time(wait);
}

bool is_ordered_after_any(const Warp& warp, int lane) {
  for (const auto& block : warp.block->cluster.blocks()) {
    for (std::size_t other = 0; other < block->grid_waits.size(); ++other) {
      if (is_ordered_after(warp, lane, *block, other)) return true;
    }
  }
  return false;
}

}  // namespace

void observe_grid_wait(Warp& warp) {
  Block& block = *warp.block;
  warp.early &= ~warp.mask;
  if (block.worker.touched != nullptr) block.worker.touched->note_wait(block.linear);
  // A thread that is ordered after a later wait of the warp is also ordered after its first one.
  Stamp& first = block.grid_waits[static_cast<std::size_t>(warp.index)];
  if (first != 0) return;
  first = make_stamp(block.order.segment(warp.index), block.thread(warp, first_lane(warp.mask)));
}

Mask early_lanes(Warp& warp, Mask lanes) {
  Mask early = 0;
  for (Mask left = lanes & warp.early; left != 0; left &= left - 1) {
    const int lane = first_lane(left);
    const Mask bit = 1u << lane;
    if (is_ordered_after_any(warp, lane)) {
      warp.early &= ~bit;
    } else {
      early |= bit;
    }
  }
  return early;
}

void report_early_access(Warp& warp, int lane, std::uint32_t site, const char* access,
                         std::uint64_t address) {
  Block& block = *warp.block;
  report(block, HazardKind::early_access, block.thread(warp, lane), site, access,
         block.worker.launch.memory.describe(address),
         "the launch ahead may still run: no griddepcontrol.wait comes before");
}

void settle_grid_waits(Block& block) {
  const bool any = std::any_of(block.grid_waits.begin(), block.grid_waits.end(),
                               [](Stamp wait) { return wait != 0; });
  if (!any) return;
  for (Warp& warp : block.warps) warp.early = 0;
}

}  // namespace rung::vgpu
