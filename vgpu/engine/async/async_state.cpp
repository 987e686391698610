#include "vgpu/engine/async/async_state.hpp"

#include <fmt/format.h>

#include "vgpu/engine/async/bulk_copy.hpp"
#include "vgpu/engine/execution/cluster.hpp"
#include "vgpu/engine/execution/report.hpp"
#include "vgpu/engine/tensor_memory/tcgen05.hpp"

namespace rung::vgpu {
namespace {

constexpr std::size_t warps_of_group = 4;
// 32-bit registers of an SM, and the maximum per thread (CUDA C++ Programming Guide, technical
// specifications).
constexpr int register_file = 65536;
constexpr int max_registers = 255;

void check_registers(Block& block) {
  const AsyncState& state = *block.async;
  int sum = 0;
  bool changed = false;
  for (std::size_t warp = 0; warp < state.warps.size(); ++warp) {
    sum += registers_of(state, warp) * warp_size;
    changed = changed || state.warps[warp].registers != 0;
  }
  if (!changed || sum <= register_file) return;
  report(
      block, HazardKind::deadlock, 0, Kernel::no_site, "setmaxnreg", {},
      fmt::format("the warps ask for {} registers, a multiprocessor has {}", sum, register_file));
}

/// Reports warpgroups whose four warps have not executed the same setmaxnreg (PTX ISA, "setmaxnreg").
void check_register_groups(Block& block) {
  const AsyncState& state = *block.async;
  for (std::size_t first = 0; first + warps_of_group <= state.warps.size();
       first += warps_of_group) {
    const int registers = state.warps[first].registers;
    for (std::size_t i = 1; i < warps_of_group; ++i) {
      if (state.warps[first + i].registers == registers) continue;
      report(block, HazardKind::bad_participant, static_cast<int>(first + i) * warp_size,
             Kernel::no_site, "setmaxnreg", {},
             fmt::format("warp {} of its warpgroup does not execute the same setmaxnreg as warp 0",
                         i));
      break;
    }
  }
}

/// Reports each wgmma that not all four warps of a warpgroup executed.
void check_multiplies(Block& block) {
  const AsyncState& state = *block.async;
  for (std::size_t group = 0; group < state.multiplies.size(); ++group) {
    const auto& multiplies = state.multiplies[group];
    for (std::size_t i = 0; i < warps_of_group && !multiplies.empty(); ++i) {
      const std::size_t warp = group * warps_of_group + i;
      const std::uint32_t issued =
          warp < state.warps.size() ? state.warps[warp].multiplies.issued : 0;
      if (issued == multiplies.size()) continue;
      const AsyncRead& missed = state.shadow.reads[multiplies[issued]];
      report(block, HazardKind::bad_participant, missed.thread, missed.site, "wgmma", {},
             fmt::format("warp {} of its warpgroup does not take part", i));
      break;
    }
  }
}

void finish_landings(Block& block) {
  for (const Landing& landing : block.cluster.landings) {
    for (const Landing::Target& target : landing.targets) {
      if (target.rank != block.rank || landing.is_commit) continue;
      const AsyncWrite& write = block.async->shadow.writes[target.write];
      report(block, HazardKind::in_flight, write.rank == block.rank ? write.thread : 0, write.site,
             "bulk copy", {}, "the block has ended before the copy came");
    }
  }
}

}  // namespace

int registers_of(const AsyncState& state, std::size_t warp) {
  if (state.warps[warp].registers != 0) return state.warps[warp].registers;
  const int share = register_file / (static_cast<int>(state.warps.size()) * warp_size);
  return std::min(share / 8 * 8, max_registers);
}

AsyncState::AsyncState() = default;
AsyncState::~AsyncState() = default;

void AsyncState::start(const Block& block) {
  barriers.start();
  tensor = block.worker.kernel.uses_tensor_memory ? std::make_unique<TensorState>() : nullptr;
  if (tensor != nullptr) tensor->start(block);
  if (block.worker.observe) {
    const int groups = static_cast<int>((block.warps.size() + warps_of_group - 1) / warps_of_group);
    const Kernel& kernel = block.worker.kernel;
    shadow.start(block.worker.launch.shared_bytes, groups,
                 kernel.reaches_other_blocks ? static_cast<std::uint32_t>(kernel.shared_granule)
                                             : AsyncShadow::copy_unit);
    multiplies.assign(static_cast<std::size_t>(groups), {});
  }
  warps.assign(block.warps.size(), {});
}

void finish_async(Block& block) {
  for (std::size_t warp = 0; warp < block.warps.size(); ++warp) {
    const AsyncWarp& state = block.async->warps[warp];
    for (const BulkStore& store : state.unfinished) {
      report(block, HazardKind::in_flight, store.thread, store.site, "bulk copy",
             shared_address(block, store.from),
             "the block has exited, but no thread has waited until the copy had read its source");
    }
    finish_stores(block.warps[warp], state.stores.issued);
  }
  finish_landings(block);
  if (block.async->tensor != nullptr) {
    finish_tensor_memory(block);
    finish_tensor_pair(block);
  }
  check_multiplies(block);
  check_registers(block);
  check_register_groups(block);
}

const Clock& publish(Warp& warp, bool relaxed) {
  Block& block = *warp.block;
  AsyncOrder& order = block.cluster.order;
  Clock& clock = order.of(block.rank, warp.index);
  if (!block.worker.observe) return clock;
  if (relaxed) {
    thread_local Clock of_tensor_memory;
    of_tensor_memory.assign(clock.size(), 0);
    order.join_tensor(of_tensor_memory, clock);
    return of_tensor_memory;
  }
  for (const Warp& other : block.warps) {
    std::uint32_t& known = clock[order.segments(block.rank, other.index)];
    known = std::max(known, block.order.known(warp.index, other.index));
  }
  block.order.advance(warp.index);
  return clock;
}

void acquire(Warp& warp, const Clock& clock, bool relaxed) {
  Block& block = *warp.block;
  if (!block.worker.observe) return;
  AsyncOrder& order = block.cluster.order;
  if (relaxed) return order.join_tensor(order.of(block.rank, warp.index), clock);
  join(order.of(block.rank, warp.index), clock);
  for (const Warp& other : block.warps) {
    block.order.learn(warp.index, other.index, clock[order.segments(block.rank, other.index)]);
  }
  // The warp's own lanes arrived there too, so they are synchronized.
  if (clock[order.segments(block.rank, warp.index)] != 0) block.order.synchronize_lanes(warp.index);
}

void run_proxy_fence(Warp& warp, const Instr& instr) {
  run_proxy_fence_of_global(warp, instr);
  run_proxy_fence_of_shared(warp, instr);
}

void run_proxy_fence_of_global(Warp& warp, const Instr&) {
  if (warp.block->worker.observe) warp.block->releases.fence_proxy(warp);
}

void run_proxy_fence_of_shared(Warp& warp, const Instr& instr) {
  Block& block = *warp.block;
  if (!block.worker.observe) return;
  AsyncOrder& order = block.cluster.order;
  publish(warp);
  Clock& clock = order.of(block.rank, warp.index);
  for (int rank = 0; rank < block.cluster.size(); ++rank) {
    for (const Warp& other : block.warps) {
      clock[order.fenced(rank, other.index)] = clock[order.segments(rank, other.index)];
    }
  }
  run_mbarrier_fence(warp, instr);
}

void run_mbarrier_fence(Warp& warp, const Instr&) {
  const Block& block = *warp.block;
  if (!block.worker.observe) return;
  for (Mbarrier& barrier : block.async->barriers.all()) {
    const bool is_own = barrier.thread() / warp_size == warp.index;
    if (is_own || block.order.ordered(barrier.initialised, block.thread(warp, 0))) {
      barrier.visible = true;
    }
  }
}

void synchronize_async(Block& block, const Barrier& done) {
  if (!block.worker.observe) return;
  AsyncOrder& order = block.cluster.order;
  Clock all(order.of(block.rank, 0).size(), 0);
  for (const Arrival& arrival : done.arrived) join(all, order.of(block.rank, arrival.warp));
  for (const Barrier::Waiter& waiter : done.waiting) {
    join(order.of(block.rank, waiter.warp), all);
  }
}

std::string describe_wait(const Block& block, int id) {
  if (id == waits_for_tensor_memory) {
    return "tcgen05.alloc waits for columns of tensor memory, and nothing that is left will "
           "release them";
  }
  if (id >= waits_for_mbarrier) {
    return describe(block, block.async->barriers.at(id - waits_for_mbarrier)) +
           ", and nothing that is left will bring them";
  }
  return fmt::format("the cluster's barrier waits for {} more threads, and they cannot come",
                     block.cluster.missing());
}

std::uint64_t address_of(Warp& warp, const AsyncAddress& address, int lane) {
  const auto offset = static_cast<std::uint64_t>(address.offset);
  if (address.bytes == 0) return offset;
  if (address.bytes == 8) return warp.row<std::uint64_t>(address.row)[lane] + offset;
  // Wraps modulo 2^32, see MemoryOp::wraps().
  return static_cast<std::uint32_t>(warp.row<std::uint32_t>(address.row)[lane] + offset);
}

std::optional<ClusterPlace> cluster_place(Warp& warp, int lane, std::uint32_t site,
                                          std::uint64_t address, std::uint32_t bytes,
                                          std::uint32_t alignment, const char* what) {
  Block& block = *warp.block;
  const std::uint64_t window = address & ~window_mask;
  const std::uint64_t inside = address & window_mask;
  const std::uint64_t rank = inside >> rank_shift;
  const std::uint64_t offset = inside & ((1u << rank_shift) - 1);
  const auto wrong = [&](HazardKind kind, std::string message) -> std::optional<ClusterPlace> {
    report(block, kind, block.thread(warp, lane), site, what,
           fmt::format("shared memory + {:#x}", inside), std::move(message));
    block.worker.launch.stop = true;
    return std::nullopt;
  };
  if ((window != 0 && window != shared_window) ||
      rank > static_cast<std::uint64_t>(block.cluster.size())) {
    return wrong(HazardKind::out_of_bounds, "no address of the cluster's shared memory");
  }
  if (offset + bytes > block.worker.launch.shared_bytes) {
    return wrong(HazardKind::out_of_bounds,
                 fmt::format("{} bytes, outside of the block's shared memory of {} bytes", bytes,
                             block.worker.launch.shared_bytes));
  }
  if (offset % alignment != 0) {
    return wrong(HazardKind::misaligned,
                 fmt::format("an address that is not a multiple of {}", alignment));
  }
  const int target = rank == 0 ? block.rank : static_cast<int>(rank) - 1;
  if (block.cluster.has_ended(target)) {
    return wrong(
        HazardKind::out_of_bounds,
        fmt::format("block {} of the cluster has ended, and its shared memory with it", target));
  }
  return ClusterPlace{&block.cluster.block(target), static_cast<std::uint32_t>(offset)};
}

}  // namespace rung::vgpu
