#include "vgpu/engine/async/bulk_copy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "vgpu/engine/async/async_state.hpp"
#include "vgpu/engine/async/bulk_reduction.hpp"
#include "vgpu/engine/async/copied_box.hpp"
#include "vgpu/engine/execution/cluster.hpp"
#include "vgpu/engine/execution/report.hpp"
#include "vgpu/engine/observers.hpp"
#include "vgpu/engine/tensor_memory/tensor_memory.hpp"
#include "vgpu/engine/warp/warp_members.hpp"
#include "vgpu/memory/launch_accesses.hpp"
#include "vgpu/memory/written_bytes.hpp"
#include "vgpu/model/async_ops.hpp"
#include "vgpu/model/bulk_traffic.hpp"
#include "vgpu/model/layout_watch.hpp"
#include "vgpu/model/schedule.hpp"
#include "vgpu/model/step_watch.hpp"

namespace rung::vgpu {
namespace {

using Direction = BulkCopyOp::Direction;
using Reduction = BulkCopyOp::Reduction;

constexpr std::uint32_t chunk = 16;           // bytes; addresses and sizes must be multiples of it
constexpr std::uint32_t response_bytes = 16;  // of clusterlaunchcontrol.try_cancel
constexpr std::uint32_t box_alignment = 128;  // bytes, of a tensor's box in shared memory

/// One lane's copy.
struct Copy {
  Warp& warp;
  const Instr& instr;
  const BulkCopyOp& op;
  int lane;
  BulkTraffic& traffic;
  mutable const Allocation* last = nullptr;       // last one touched: most boxes are within one
  mutable std::vector<GlobalRange> sources = {};  // in global memory

  Block& block() const { return *warp.block; }
  int thread() const { return block().thread(warp, lane); }
  AsyncWarp& state() const { return block().async->warps[static_cast<std::size_t>(warp.index)]; }
  std::uint64_t address(const AsyncAddress& at) const { return address_of(warp, at, lane); }
  AsyncAccess access() const { return {block(), warp, lane, instr.site, "bulk copy"}; }
  void fail(HazardKind kind, std::string address, std::string message) const {
    report(block(), kind, thread(), instr.site, "bulk copy", std::move(address),
           std::move(message));
    block().worker.launch.stop = true;
  }
};

/// Checks the bounds of a range of global memory and, for reads, that it is initialised. Adds the
/// range to the copy's traffic.
bool touch_global(const Copy& copy, std::uint64_t address, std::uint32_t bytes, bool writes) {
  const DeviceMemory& memory = copy.block().worker.launch.memory;
  const auto is_outside = [&](const Allocation* allocation) {
    return allocation == nullptr || address < allocation->address ||
           address + bytes > allocation->address + allocation->bytes;
  };
  if (is_outside(copy.last)) copy.last = memory.find(address);
  const Allocation* const allocation = copy.last;
  if (is_outside(allocation)) {
    copy.fail(HazardKind::out_of_bounds, memory.describe(address),
              fmt::format("{} bytes outside of {}", bytes,
                          allocation == nullptr ? "every allocation" : "the allocation"));
    return false;
  }
  if (writes && allocation->read_only) {
    copy.fail(HazardKind::read_only_write, memory.describe(address),
              "constant memory cannot be written by a kernel");
    return false;
  }
  if (!copy.block().worker.observe) return true;
  copy.traffic.add(address, bytes);
  if (!writes) {
    copy.block().observers.check_bulk_read(copy.access(), {allocation, address, bytes});
    copy.sources.push_back({allocation, address, bytes});
  }
  const bool early = copy.block().observers.early_lanes(copy.warp, 1u << copy.lane) != 0;
  LaunchAccesses* const touched = copy.block().worker.touched;
  if (touched != nullptr && touched->includes(*allocation)) {
    const bool adds = copy.op.reduction != Reduction::none;
    const Touch touch = !writes ? Touch::read : adds ? Touch::synchronized_write : Touch::write;
    touched->of(*allocation, early).add(address - allocation->address, bytes, touch);
  }
  if (early) {
    copy.block().observers.report_early_access(copy.warp, copy.lane, copy.instr.site, "bulk copy",
                                               address);
  }
  if (allocation->host || (allocation->all_initialised && !writes)) return true;
  if (writes) {
    note_written(*allocation, address, bytes);
  } else if (const std::size_t at = find_unwritten(*allocation, address, bytes); at < bytes) {
    report(copy.block(), HazardKind::uninitialised_read, copy.thread(), copy.instr.site,
           "bulk copy", memory.describe(address + at), "nothing has been written there");
  }
  return true;
}

bool check_aligned(const Copy& copy, std::uint64_t value, const char* what) {
  if (value % chunk == 0) return true;
  copy.fail(HazardKind::misaligned, {},
            fmt::format("{} {:#x} is not a multiple of {}", what, value, chunk));
  return false;
}

const char* name_of(TensorMode mode) {
  constexpr const char* names[] = {".tile", ".im2col", ".im2col::w", ".im2col::w::128"};
  return names[static_cast<std::size_t>(mode)];
}

std::optional<CopiedBox> box_of(const Copy& copy) {
  const std::uint64_t address = copy.address(copy.op.global);
  const LaunchState& launch = copy.block().worker.launch;
  const auto wrong = [&](std::string message) -> std::optional<CopiedBox> {
    copy.fail(HazardKind::out_of_bounds, launch.memory.describe(address), std::move(message));
    return std::nullopt;
  };
  CopiedBox box;
  const std::uint64_t window = address & ~window_mask;
  const Allocation* const allocation = launch.memory.find(address);
  if (window == param_window) {
    const std::uint64_t offset = address & window_mask;
    if (offset + sizeof(TensorMap) > launch.parameters.size()) {
      return wrong("there is no tensor map at that address");
    }
    std::memcpy(&box.map, launch.parameters.data() + offset, sizeof box.map);
  } else if (allocation != nullptr &&
             address + sizeof(TensorMap) <= allocation->address + allocation->bytes) {
    std::memcpy(&box.map, allocation->data(address), sizeof box.map);
  } else {
    return wrong("a tensor map must be in global or constant memory, or a parameter");
  }
  if (box.map.tag != TensorMap::valid_tag) return wrong("is no tensor map of this device");
  if (box.map.mode != copy.op.mode) {
    return wrong(fmt::format("the tensor map was encoded for {}, and the copy is {}",
                             name_of(box.map.mode), name_of(copy.op.mode)));
  }
  box.picks_rows = copy.op.picks_rows;
  if (box.picks_rows && (box.map.dimensions != 2 || box.map.box[1] != 1)) {
    return wrong(
        "rows are gathered from and scattered to a tensor of 2 dimensions, with boxes of one row");
  }
  if (!box.picks_rows && box.map.dimensions != copy.op.coordinates.size()) {
    return wrong(fmt::format("{} coordinates for a tensor of {} dimensions",
                             copy.op.coordinates.size(), box.map.dimensions));
  }
  for (std::size_t i = 0; i < box.map.dimensions; ++i) {
    box.at[i] = copy.warp.row<std::int32_t>(copy.op.coordinates[i])[copy.lane];
  }
  for (std::size_t i = 0; box.picks_rows && i < CopiedBox::picked_rows; ++i) {
    box.rows[i] = copy.warp.row<std::int32_t>(copy.op.coordinates[1 + i])[copy.lane];
  }
  if (box.map.mode != TensorMode::tiled) {
    for (std::size_t i = 0; i < copy.op.offsets.size(); ++i) {
      const auto offset = copy.warp.row<std::uint16_t>(copy.op.offsets[i])[copy.lane];
      // Modes of W have wHalo and wOffset (PTX ISA, 9.7.9.25.5.2).
      const bool is_halo = box.map.mode != TensorMode::im2col && i == 0;
      if (is_halo)
        box.halo = offset;
      else
        box.offsets[box.map.mode == TensorMode::im2col ? i : 0] = offset;
    }
    if (std::string error = position_error(box); !error.empty()) return wrong(std::move(error));
  }
  // A GPU stops with an illegal instruction, which the PTX ISA does not mention.
  const std::uint32_t bits = bits_of(box.map.element);
  const int multiple = is_padded(box.map.element) ? 128 : static_cast<int>(chunk * 8 / bits);
  if (box.at[0] % multiple != 0) {
    copy.fail(HazardKind::misaligned, launch.memory.describe(box.map.address),
              fmt::format("the first coordinate is {}, of {} elements; it must be a multiple of {}",
                          box.at[0],
                          bits < 8 ? fmt::format("{}-bit", bits) : fmt::format("{}-byte", bits / 8),
                          multiple));
    return std::nullopt;
  }
  return box;
}

/// Ranges of shared memory covered by a box at `base`, without the gaps between its rows.
std::vector<AsyncRange> shared_ranges(const CopiedBox& box, std::uint32_t base) {
  if (!has_gaps(box.map)) return {{base, box.extent()}};
  std::vector<AsyncRange> ranges;
  for (const BoxRow& row : rows_of(box)) {
    for_each_chunk(box.map, row, base, [&](std::uint32_t at, std::uint32_t, std::uint32_t bytes) {
      ranges.push_back({at, bytes});
    });
  }
  return ranges;
}

bool load_tensor(const Copy& copy, const CopiedBox& box, std::uint32_t to, Landing& landing) {
  const std::vector<BoxRow> rows = rows_of(box);
  landing.data.resize(rows.size() * rows.front().bytes);
  // Elements outside a floating-point tensor may be filled with NaN.
  if (box.map.fill_nan) std::fill(landing.data.begin(), landing.data.end(), std::byte{0xFF});
  std::uint32_t from = 0;
  for (const BoxRow& row : rows) {
    if (row.inside != 0) {
      if (!touch_global(copy, row.address, row.inside, false)) return false;
      std::memcpy(landing.data.data() + from + row.skipped, copy.last->data(row.address),
                  row.inside);
      convert_elements(box.map.element, landing.data.data() + from + row.skipped, row.inside);
    }
    for_each_chunk(box.map, row, to,
                   [&](std::uint32_t at, std::uint32_t done, std::uint32_t bytes) {
                     landing.pieces.push_back({at, from + done, bytes});
                   });
    from += row.bytes;
  }
  landing.bytes = box.signalled_bytes();
  return true;
}

/// The response to clusterlaunchcontrol.try_cancel: the first block of a cluster that will not start, because the
/// asking one takes its work, and 1; or zeros.
void load_response(const Copy& copy, std::uint32_t to, Landing& landing) {
  LaunchState& launch = copy.block().worker.launch;
  const Dim3 &grid = launch.options.grid, &size = launch.options.cluster;
  const std::uint64_t across = grid.x / size.x, down = grid.y / size.y;
  const std::uint64_t clusters = across * down * (grid.z / size.z);
  std::array<std::uint32_t, 4> response{};
  if (std::uint64_t next = launch.next_cluster.fetch_add(1); next < clusters) {
    // Clusters start in the order of the schedule (Worker::run()).
    if (const Schedule* const schedule = running_schedule()) {
      next = schedule->permuted(next, clusters);
    }
    response = {static_cast<std::uint32_t>(next % across) * size.x,
                static_cast<std::uint32_t>(next / across % down) * size.y,
                static_cast<std::uint32_t>(next / across / down) * size.z, 1};
  }
  landing.data.resize(response_bytes);
  std::memcpy(landing.data.data(), response.data(), response_bytes);
  landing.pieces.push_back({to, 0, response_bytes});
  landing.bytes = response_bytes;
}

bool load_bytes(const Copy& copy, std::uint32_t to, std::uint32_t bytes, Landing& landing) {
  const std::uint64_t from = copy.address(copy.op.global);
  if (!check_aligned(copy, from, "the source")) return false;
  if (copy.op.direction == Direction::between_blocks) {
    const auto source =
        cluster_place(copy.warp, copy.lane, copy.instr.site, from, bytes, chunk, "bulk copy");
    if (!source) return false;
    const std::byte* const data = source->block->shared.data() + source->offset;
    landing.data.assign(data, data + bytes);
    if (copy.block().worker.observe) {
      const AsyncRange range{source->offset, bytes};
      copy.block().observers.check_async_read(
          {*source->block, copy.warp, copy.lane, copy.instr.site, "bulk copy"}, {&range, 1}, false);
    }
  } else {
    if (!touch_global(copy, from, bytes, false)) return false;
    const std::byte* const data = copy.last->data(from);
    landing.data.assign(data, data + bytes);
  }
  landing.pieces.push_back({to, 0, bytes});
  landing.bytes = bytes;
  return true;
}

/// Checks a copy's write to a block's shared memory and records it in the block's shadow, before
/// the write. The mbarrier is in the shared memory of `owner`.
std::optional<std::uint32_t> note_write(const Copy& copy, Block& target,
                                        std::span<const AsyncRange> ranges, Block& owner,
                                        std::uint32_t barrier_offset) {
  Mbarrier* const barrier = owner.async->barriers.find(barrier_offset);
  if (barrier == nullptr || !barrier->valid) {
    copy.fail(HazardKind::barrier_misuse, shared_address(owner, barrier_offset),
              "the copy is to complete on an mbarrier, and there is no initialised one");
    return std::nullopt;
  }
  if (!copy.block().worker.observe) return 0;
  // A block may start before another one has initialised the mbarrier that its copy completes at.
  if (&owner != &copy.block()) {
    check_initialised(copy.warp, copy.lane, copy.instr.site, "bulk copy", owner, *barrier);
  }
  if (!barrier->visible) {
    report(copy.block(), HazardKind::missing_fence, copy.thread(), copy.instr.site, "bulk copy",
           shared_address(owner, barrier_offset),
           "since the mbarrier was initialised there was no fence.mbarrier_init or "
           "fence.proxy.async");
  }
  const AsyncAccess access{target, copy.warp, copy.lane, copy.instr.site, "bulk copy"};
  for (const auto& [to, bytes] : ranges) {
    copy.block().observers.check_async_write(access, to, bytes);
  }
  auto& writes = target.async->shadow.writes;
  const auto id = static_cast<std::uint32_t>(writes.size());
  const AsyncOrder& order = target.cluster.order;
  writes.push_back({copy.instr.site, copy.block().rank, copy.thread(),
                    order.phases(owner.rank, owner.async->barriers.index(*barrier)),
                    barrier->phase + 1, "bulk copy"});
  const StepWatcher* const steps = step_watcher.load();
  for (const auto& [to, bytes] : ranges) {
    copy.block().observers.note_async_write(access, to, bytes, id);
    if (steps != nullptr && target.linear == 0) {
      (*steps)({copy.warp.index, 1u << copy.lane, 0, to, bytes});
    }
  }
  return id;
}

/// Reports a box that block 0 receives to the watcher.
void tell_box(const Copy& copy, const CopiedBox& box, std::uint32_t to) {
  const LayoutWatcher* const watcher = layout_watcher.load();
  // Rows that a gather collects are no part of one box.
  if (watcher == nullptr || !copy.block().worker.observe || box.boxes() != 1) return;
  if (box.map.mode != TensorMode::tiled) return;  // pixels have no fixed position in a box
  LayoutUse use;
  use.site = copy.instr.site;
  use.map = box.map;
  use.at = box.at;
  use.offset = to;
  (*watcher)(use);
}

/// A copy into one block signals an mbarrier of that block, or with .cta_group::2 of its pair.
void fail_unreached(const Copy& copy, const Block& to, const ClusterPlace& barrier) {
  copy.fail(
      HazardKind::barrier_misuse, shared_address(*barrier.block, barrier.offset),
      fmt::format("the mbarrier is in block {} of the cluster, and the copy writes to block {}: "
                  "expected {}",
                  barrier.block->rank, to.rank,
                  copy.op.of_pair ? "a block of the same pair, not of another pair"
                                  : "the same block without .cta_group::2"));
}

void load(const Copy& copy) {
  const auto box = copy.op.tensor() ? box_of(copy) : std::nullopt;
  if (copy.op.tensor() && !box) return;
  const bool cancels = copy.op.direction == Direction::cancel;
  const std::uint32_t bytes = box       ? box->extent()
                              : cancels ? response_bytes
                                        : copy.warp.row<std::uint32_t>(copy.op.bytes)[copy.lane];
  if (!check_aligned(copy, bytes, "the size")) return;
  const auto to = cluster_place(copy.warp, copy.lane, copy.instr.site, copy.address(copy.op.shared),
                                bytes, box ? box_alignment : chunk, "bulk copy");
  const auto barrier = cluster_place(copy.warp, copy.lane, copy.instr.site,
                                     copy.address(copy.op.barrier), 8, 8, "mbarrier");
  if (!to || !barrier) return;
  Cluster& cluster = copy.block().cluster;
  Landing landing;
  if (cancels) {
    load_response(copy, to->offset, landing);
  } else if (!(box ? load_tensor(copy, *box, to->offset, landing)
                   : load_bytes(copy, to->offset, bytes, landing))) {
    return;
  }
  landing.barrier = barrier->offset;
  landing.sources = std::move(copy.sources);
  landing.rank = copy.block().rank;
  landing.thread = copy.thread();
  landing.site = copy.instr.site;
  const std::vector<AsyncRange> ranges =
      box ? shared_ranges(*box, to->offset) : std::vector{AsyncRange{to->offset, bytes}};
  std::uint32_t mask = 1u << to->block->rank;
  if (copy.op.multicast && cancels) {
    mask = (1u << cluster.size()) - 1;
  } else if (copy.op.multicast)
    mask = copy.warp.row<std::uint16_t>(copy.op.mask)[copy.lane];
  for (int rank = 0; rank < cluster.size(); ++rank) {
    if ((mask >> rank & 1u) == 0) continue;
    if (cluster.has_ended(rank)) {
      copy.fail(
          HazardKind::out_of_bounds, {},
          fmt::format("block {} of the cluster has ended, and its shared memory with it", rank));
      return;
    }
    if (box && cluster.block(rank).linear == 0) tell_box(copy, *box, to->offset);
    // The block of the same parity as the given mbarrier's, in the destination's pair (PTX ISA, 9.7.9.25.5.2).
    const int owner = copy.op.of_pair ? (rank & ~1) | (barrier->block->rank & 1) : rank;
    if (!copy.op.multicast && owner != barrier->block->rank) {
      fail_unreached(copy, *to->block, *barrier);
      return;
    }
    const auto id =
        note_write(copy, cluster.block(rank), ranges, cluster.block(owner), barrier->offset);
    if (!id) return;
    TensorState* const tensor = cluster.block(rank).async->tensor.get();
    if (box && tensor != nullptr && copy.block().worker.observe) {
      tensor->boxes.push_back(
          {*id, copy.instr.site, to->offset, box_pitch(box->map), box->map.swizzle});
    }
    landing.targets.push_back({rank, *id, owner});
  }
  copy.block().observers.count_bulk_load(
      copy.block().worker, copy.instr.site, copy.traffic,
      landing.data.size() * landing.targets.size(),
      copy.op.direction == Direction::between_blocks ? landing.data.size() : 0);
  cluster.landings.push_back(std::move(landing));
}

/// Number of bytes written for a row: an H200 writes units of 16 bytes, even beyond the edge of the
/// tensor.
std::uint32_t stored_bytes(const BoxRow& row) {
  const std::uint64_t end = (row.address + row.inside + chunk - 1) / chunk * chunk;
  return std::min(static_cast<std::uint32_t>(end - row.address), row.bytes - row.skipped);
}

bool plan_tensor(const Copy& copy, const CopiedBox& box, BulkStore& store, BulkWrite& write) {
  for (const BoxRow& row : rows_of(box)) {
    if (row.inside == 0) continue;
    const std::uint32_t stored = stored_bytes(row);
    if (!touch_global(copy, row.address, stored, true)) return false;
    write.ranges.push_back({copy.last, row.address, stored});
    for_each_chunk(
        box.map, row, store.from, [&](std::uint32_t at, std::uint32_t done, std::uint32_t bytes) {
          const std::uint32_t begin = std::max(done, row.skipped);
          const std::uint32_t end = std::min(done + bytes, row.skipped + stored);
          if (begin >= end) return;
          store.pieces.push_back(
              {copy.last->data(row.address + begin - row.skipped), at + begin - done, end - begin});
        });
  }
  return true;
}

/// The first lane whose copy is the same as this lane's. If no lane was elected, all lanes run the
/// same copy.
int first_lane_of_copy(const Copy& copy) {
  if (copy.op.reduction != Reduction::none) return copy.lane;
  const auto is_same = [&](int other) {
    const auto same = [&](std::uint32_t row) {
      const auto* const lanes = copy.warp.row<std::uint32_t>(row);
      return lanes[copy.lane] == lanes[other];
    };
    return copy.address(copy.op.shared) == address_of(copy.warp, copy.op.shared, other) &&
           copy.address(copy.op.global) == address_of(copy.warp, copy.op.global, other) &&
           (copy.op.tensor() || same(copy.op.bytes)) &&
           std::all_of(copy.op.coordinates.begin(), copy.op.coordinates.end(), same);
  };
  Mask left = copy.warp.mask;
  while (first_lane(left) != copy.lane && !is_same(first_lane(left))) left &= left - 1;
  return first_lane(left);
}

void store(const Copy& copy) {
  const auto box = copy.op.tensor() ? box_of(copy) : std::nullopt;
  if (copy.op.tensor() && !box) return;
  if (box && box->map.swizzle == TensorSwizzle::bytes_128_atom_32_flip_8) {
    // PTX ISA, 5.5.7, "32-byte atomicity with 8-byte flip sub-mode".
    return copy.fail(HazardKind::trap, {},
                     "the swizzle 128B_ATOM_32B_FLIP_8B exists for loads only");
  }
  BulkStore store;
  store.bytes = box ? box->extent() : copy.warp.row<std::uint32_t>(copy.op.bytes)[copy.lane];
  if (!check_aligned(copy, store.bytes, "the size")) return;
  const auto from =
      cluster_place(copy.warp, copy.lane, copy.instr.site, copy.address(copy.op.shared),
                    store.bytes, box ? box_alignment : chunk, "bulk copy");
  if (!from) return;
  store.from = from->offset;
  store.site = copy.instr.site;
  store.thread = copy.thread();
  store.action = copy.op.reduction;
  BulkWrite write{0, store.site, copy.lane, store.action != Reduction::none, {}};
  if (box) {
    if (store.action == Reduction::add_elements) {
      const auto action = reduction_of(box->map.element);
      if (!action) {
        return copy.fail(HazardKind::trap, {}, "tensors of u8, u16 or tf32 cannot be added to");
      }
      store.action = *action;
    }
    if (!plan_tensor(copy, *box, store, write)) return;
  } else {
    const std::uint64_t to = copy.address(copy.op.global);
    if (!check_aligned(copy, to, "the destination") || !touch_global(copy, to, store.bytes, true)) {
      return;
    }
    store.pieces.push_back({copy.last->data(to), store.from, store.bytes});
    write.ranges.push_back({copy.last, to, store.bytes});
  }
  copy.block().observers.count_bulk_store(copy.block().worker, copy.instr.site, copy.traffic);
  AsyncWarp& state = copy.state();
  store.number = ++state.stores.issued;
  if (copy.block().worker.observe) {
    AsyncShadow& shadow = copy.block().async->shadow;
    const AsyncAccess access = copy.access();
    const std::vector<AsyncRange> ranges =
        box ? shared_ranges(*box, store.from) : std::vector{AsyncRange{store.from, store.bytes}};
    copy.block().observers.check_async_read(access, ranges, false);
    const auto id = static_cast<std::uint32_t>(shadow.reads.size());
    shadow.reads.push_back({copy.instr.site, copy.block().rank, store.thread,
                            copy.block().cluster.order.copied(copy.block().rank, copy.warp.index),
                            store.number, "bulk copy"});
    copy.block().observers.note_async_read(access, ranges, shadow.copy_slot(), id);
    for (const GlobalRange& to : write.ranges) {
      copy.block().observers.note_bulk_write(access, to, write.atomic, first_lane_of_copy(copy));
    }
    write.number = store.number;
    state.in_flight.push_back(std::move(write));
  }
  state.unfinished.push_back(std::move(store));
}

}  // namespace

void query_canceled(Warp& warp, const Instr& instr) {
  const auto* const upper = warp.row<std::uint64_t>(instr.rows[1]) + warp_size;
  for (Mask left = warp.mask; left != 0; left &= left - 1) {
    const int lane = first_lane(left);
    set_bit(warp.predicate(instr.rows[0]), lane, upper[lane] >> 32 != 0);
  }
}

void move_half(Warp& warp, const Instr& instr) {
  auto* const to = warp.row<std::uint64_t>(instr.rows[0]);
  const auto* const from = warp.row<std::uint64_t>(instr.rows[1]);
  for (Mask left = warp.mask; left != 0; left &= left - 1)
    to[first_lane(left)] = from[first_lane(left)];
}

void query_first_block(Warp& warp, const Instr& instr) {
  const auto* const words = warp.row<std::uint64_t>(instr.rows[1]) + instr.imm / 2 * warp_size;
  auto* const to = warp.row<std::uint32_t>(instr.rows[0]);
  for (Mask left = warp.mask; left != 0; left &= left - 1) {
    const int lane = first_lane(left);
    to[lane] = static_cast<std::uint32_t>(words[lane] >> (instr.imm % 2 * 32));
  }
}

void run_bulk_copy(Warp& warp, const Instr& instr) {
  const auto& op = instr.op<BulkCopyOp>();
  for (Mask left = warp.mask; left != 0; left &= left - 1) {
    BulkTraffic traffic;
    const Copy copy{warp, instr, op, first_lane(left), traffic};
    op.direction == Direction::store ? store(copy) : load(copy);
  }
}

}  // namespace rung::vgpu
