#include "vgpu/engine/tensor_memory/tensor_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "vgpu/engine/async/async_state.hpp"
#include "vgpu/engine/execution/cluster.hpp"
#include "vgpu/engine/execution/report.hpp"
#include "vgpu/engine/observers.hpp"
#include "vgpu/engine/tensor_memory/tensor_access.hpp"
#include "vgpu/engine/warp/warp_ops.hpp"

namespace rung::vgpu {
namespace {

using Action = TensorAllocationOp::Action;

constexpr std::uint32_t address_bytes = 4;

/// Writes the allocation's address to shared memory.
void complete(Warp& warp, const Instr& instr, int column) {
  const auto& op = instr.op<TensorAllocationOp>();
  Block& block = *warp.block;
  const int lane = first_lane(warp.mask);
  const auto place = cluster_place(warp, lane, instr.site, address_of(warp, op.result, lane),
                                   address_bytes, address_bytes, "tcgen05.alloc");
  if (!place) return;
  const std::uint32_t bits = TensorAddress{0, column}.bits();
  block.observers.write_shared_once(block, block.thread(warp, lane), instr.site, place->offset,
                                    address_bytes);
  std::memcpy(place->block->shared.data() + place->offset, &bits, sizeof bits);
}

/// A power of two from 32 to 512 (PTX ISA, 9.7.16.7.1).
bool check_columns(Warp& warp, const Instr& instr, std::uint32_t columns, const char* what) {
  if (columns >= TensorMemory::granule && columns <= tensor_columns &&
      std::has_single_bit(columns)) {
    return true;
  }
  misuse_tensor_memory(warp, first_lane(warp.mask), instr.site, what, {},
                       fmt::format("{} columns: expected a power of two from 32 to 512", columns));
  return false;
}

void allocate(Warp& warp, const Instr& instr, std::uint32_t columns) {
  Block& block = *warp.block;
  TensorMemory& memory = tensor_memory(block);
  const int lane = first_lane(warp.mask);
  if (!check_columns(warp, instr, columns, "tcgen05.alloc")) return;
  if (memory.relinquished) {
    misuse_tensor_memory(warp, lane, instr.site, "tcgen05.alloc", {},
                         "the block has given up its right to allocate by "
                         "tcgen05.relinquish_alloc_permit");
    return;
  }
  const auto column =
      memory.allocate(static_cast<int>(columns), instr.site, block.thread(warp, lane));
  if (column) return complete(warp, instr, *column);
  memory.waiting.push_back({&warp, warp.current, &instr});
  block.suspend(warp, waits_for_tensor_memory, instr);
}

/// Lets allocations proceed that fit now, oldest first.
void wake_waiting(Block& block, TensorMemory& memory) {
  while (!memory.waiting.empty()) {
    const TensorMemory::Waiter waiter = memory.waiting.front();
    Warp& warp = *waiter.warp;
    const auto& op = waiter.instr->op<TensorAllocationOp>();
    const Mask mask = warp.splits[static_cast<std::size_t>(waiter.split)].mask;
    const auto columns = warp.row<std::uint32_t>(op.columns)[first_lane(mask)];
    const auto column = memory.allocate(static_cast<int>(columns), waiter.instr->site,
                                        block.thread(warp, first_lane(mask)));
    if (!column) return;
    memory.waiting.erase(memory.waiting.begin());
    const Mask active = std::exchange(warp.mask, mask);
    complete(warp, *waiter.instr, *column);
    warp.mask = active;
    block.wake(warp, waiter.split);
  }
}

void release(Warp& warp, const Instr& instr, std::uint32_t bits, std::uint32_t columns) {
  Block& block = *warp.block;
  TensorMemory& memory = tensor_memory(block);
  const int lane = first_lane(warp.mask);
  const TensorAddress address = TensorAddress::of(bits);
  if (!check_columns(warp, instr, columns, "tcgen05.dealloc")) return;
  const auto width = static_cast<int>(columns);
  if (address.lane == 0 && memory.is_allocated(address.column, width) && block.worker.observe) {
    check_tensor_use({block, warp, lane, instr.site, "tcgen05.dealloc"},
                     {0, tensor_lanes, address.column, width}, TensorAccessKind::release);
    memory.in_use.begin({0, tensor_lanes, address.column, width});
  }
  if (!memory.release(address.column, width) || address.lane != 0) {
    misuse_tensor_memory(
        warp, lane, instr.site, "tcgen05.dealloc", address,
        memory.allocations().empty()
            ? fmt::format("{} columns are released, and none are allocated", columns)
            : fmt::format("{} columns are released, and no allocation has this address and size",
                          columns));
    return;
  }
  wake_waiting(block, memory);
}

}  // namespace

std::optional<int> TensorMemory::allocate(int columns, std::uint32_t site, int thread) {
  const int wanted = columns / granule;
  // Allocations are aligned to their size, so that free columns do not fragment.
  for (int first = 0; first + wanted <= tensor_columns / granule; first += wanted) {
    const auto begin = used_.begin() + first;
    if (std::find(begin, begin + wanted, true) != begin + wanted) continue;
    std::fill_n(begin, wanted, true);
    allocations_.push_back({first * granule, columns, site, thread});
    return first * granule;
  }
  return std::nullopt;
}

bool TensorMemory::release(int column, int columns) {
  const auto found = std::find_if(
      allocations_.begin(), allocations_.end(),
      [&](const Allocation& each) { return each.column == column && each.columns == columns; });
  if (found == allocations_.end()) return false;
  allocations_.erase(found);
  std::fill_n(used_.begin() + column / granule, columns / granule, false);
  return true;
}

bool TensorMemory::is_allocated(int column, int columns) const {
  if (column < 0 || column + columns > tensor_columns) return false;
  for (int at = column / granule; at * granule < column + columns; ++at) {
    if (!used_[static_cast<std::size_t>(at)]) return false;
  }
  return true;
}

void TensorState::start(const Block& block) {
  constexpr std::size_t warps_of_group = 4;
  const auto groups = (block.warps.size() + warps_of_group - 1) / warps_of_group;
  memory.shadow.start(tensor_lanes, tensor_columns, static_cast<int>(groups) + 1);
  warps.assign(block.warps.size(), {});
}

TensorMemory& tensor_memory(Block& block) { return block.async->tensor->memory; }

std::string tensor_place(TensorAddress address) {
  return fmt::format("tensor memory, lane {}, column {}", address.lane, address.column);
}

void misuse_tensor_memory(Warp& warp, int lane, std::uint32_t site, const char* what,
                          TensorAddress address, std::string message) {
  Block& block = *warp.block;
  report(block, HazardKind::tensor_memory, block.thread(warp, lane), site, what,
         tensor_place(address), std::move(message));
  block.worker.launch.stop = true;
}

bool check_allocated(Block& owner, Warp& warp, int lane, std::uint32_t site, const char* what,
                     const TensorRange& range) {
  const TensorMemory& memory = tensor_memory(owner);
  if (range.lane >= 0 && range.lane + range.lanes <= tensor_lanes &&
      memory.is_allocated(range.column, range.columns)) {
    return true;
  }
  std::string allocated;
  for (const TensorMemory::Allocation& each : memory.allocations()) {
    allocated += fmt::format("{}[{}, {})", allocated.empty() ? "" : ", ", each.column,
                             each.column + each.columns);
  }
  misuse_tensor_memory(
      warp, lane, site, what, {range.lane, range.column},
      fmt::format("lanes [{}, {}) of columns [{}, {}) {}; block {} of the cluster has allocated {}",
                  range.lane, range.lane + range.lanes, range.column, range.column + range.columns,
                  range.lane + range.lanes > tensor_lanes ? "exceed the 128 lanes"
                                                          : "are not all allocated",
                  owner.rank, allocated.empty() ? "nothing" : "columns " + allocated));
  return false;
}

void finish_tensor_memory(Block& block) {
  for (const TensorMemory::Allocation& each : tensor_memory(block).allocations()) {
    report(block, HazardKind::tensor_memory, each.thread, each.site, "tcgen05.alloc",
           tensor_place({0, each.column}),
           fmt::format("the block has exited without tcgen05.dealloc of these {} columns",
                       each.columns));
  }
}

void run_tensor_allocation(Warp& warp, const Instr& instr) {
  const auto& op = instr.op<TensorAllocationOp>();
  if (warp.mask != all_lanes) report_bad_participant(warp, instr, ~warp.mask);
  if (op.action == Action::relinquish) {
    tensor_memory(*warp.block).relinquished = true;
    return;
  }
  const int lane = first_lane(warp.mask);
  const std::uint32_t columns = warp.row<std::uint32_t>(op.columns)[lane];
  if (op.action == Action::allocate) return allocate(warp, instr, columns);
  release(warp, instr, warp.row<std::uint32_t>(op.address)[lane], columns);
}

}  // namespace rung::vgpu
