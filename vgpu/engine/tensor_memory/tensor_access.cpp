#include "vgpu/engine/tensor_memory/tensor_access.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "vgpu/engine/async/async_state.hpp"
#include "vgpu/engine/execution/cluster.hpp"
#include "vgpu/engine/execution/report.hpp"
#include "vgpu/engine/warp/warp_ops.hpp"

namespace rung::vgpu {
namespace {

constexpr int warps_of_group = 4;

/// True if the use is complete, or starts earlier in the same pipeline (PTX ISA, 9.7.16.6.2, "Pipelined
/// tcgen05 Instructions").
bool is_ordered(const TensorAccess& access, const TensorUse& use) {
  Block& own = *access.warp.block;
  AsyncOrder& order = own.cluster.order;
  const Clock& clock = order.of(own.rank, access.warp.index);
  if (clock[use.component] >= use.number) return true;
  if (!use.is_pipelined || !access.is_pipelined) return false;
  const int warp = use.thread / warp_size;
  if (use.rank == own.rank) {
    return warp == access.warp.index || own.order.ordered(make_stamp(use.segment, use.thread),
                                                          own.thread(access.warp, access.lane));
  }
  return clock[order.segments(use.rank, warp)] >= use.segment;
}

const char* missing_wait(const TensorUse& use) {
  if (use.is_pipelined) {
    return "no wait for an mbarrier that a later tcgen05.commit arrived at is in between";
  }
  return use.is_load ? "no tcgen05.wait::ld of its warp is ordered before"
                     : "no tcgen05.wait::st of its warp is ordered before";
}

void report_use(const TensorAccess& access, TensorAddress at, const TensorUse& use, bool reads) {
  Block& own = *access.warp.block;
  const Site& site = own.worker.kernel.sites[use.site];
  report(
      own, HazardKind::in_flight, own.thread(access.warp, access.lane), access.site, access.what,
      tensor_place(at),
      fmt::format("{}the {} at {} (PTX line {}) may still {} it: {}",
                  access.what == std::string_view("tcgen05.dealloc") ? "it is released, and " : "",
                  use.what, site.where.empty() ? site.mnemonic : site.where, site.ptx_line,
                  reads ? "read" : "write", missing_wait(use)));
}

/// Checks one unit. Returns false after a report.
bool check_unit(const TensorAccess& access, TensorShadow& shadow, TensorAddress at,
                TensorAccessKind kind) {
  const std::uint32_t write = shadow.write_at(at.lane, at.column);
  if (write != 0 && !is_ordered(access, shadow.uses[write])) {
    report_use(access, at, shadow.uses[write], false);
    return false;
  }
  if (kind == TensorAccessKind::read) return true;
  for (int slot = 0; slot < shadow.slots(); ++slot) {
    const std::uint32_t read = shadow.read_at(at.lane, at.column, slot);
    if (read == 0 || is_ordered(access, shadow.uses[read])) continue;
    report_use(access, at, shadow.uses[read], true);
    return false;
  }
  return true;
}

bool is_written(TensorShadow& shadow, const TensorRange& range, int column) {
  for (int lane = range.lane; lane < range.lane + range.lanes;
       lane += TensorShadow::lanes_of_unit) {
    if (shadow.write_at(lane, column) != 0) return true;
  }
  return false;
}

template <class F>
void for_each_unit(const TensorRange& range, const F& f) {
  constexpr int step = TensorShadow::lanes_of_unit;
  for (int lane = range.lane / step * step; lane < range.lane + range.lanes; lane += step) {
    for (int column = range.column; column < range.column + range.columns; ++column) {
      f(TensorAddress{lane, column});
    }
  }
}

}  // namespace

bool check_tensor_use(const TensorAccess& access, const TensorRange& range, TensorAccessKind kind) {
  TensorShadow& shadow = tensor_memory(access.owner).shadow;
  Block& own = *access.warp.block;
  for (int column = range.column; column < range.column + range.columns; ++column) {
    // Rows of a multiplication with m = 64 are in 16 lanes of each 32.
    if (kind != TensorAccessKind::read || is_written(shadow, range, column)) continue;
    report(own, HazardKind::uninitialised_read, own.thread(access.warp, access.lane), access.site,
           access.what, tensor_place({range.lane, column}),
           "nothing has been written there since its allocation");
    return false;
  }
  bool fine = true;
  for_each_unit(range,
                [&](TensorAddress at) { fine = fine && check_unit(access, shadow, at, kind); });
  if (kind == TensorAccessKind::release) {
    for_each_unit(range, [&](TensorAddress at) {
      shadow.write_at(at.lane, at.column) = 0;
      for (int slot = 0; slot < shadow.slots(); ++slot)
        shadow.read_at(at.lane, at.column, slot) = 0;
    });
  }
  return fine;
}

void note_tensor_use(const TensorAccess& access, const TensorRange& range, bool writes,
                     std::uint32_t use) {
  TensorShadow& shadow = tensor_memory(access.owner).shadow;
  const int slot =
      access.is_pipelined ? shadow.pipelined_slot() : access.warp.index / warps_of_group;
  for_each_unit(range, [&](TensorAddress at) {
    if (!writes) {
      shadow.read_at(at.lane, at.column, slot) = use;
      return;
    }
    shadow.write_at(at.lane, at.column) = use;
    for (int each = 0; each < shadow.slots(); ++each) shadow.read_at(at.lane, at.column, each) = 0;
  });
}

std::uint32_t add_tensor_use(const TensorAccess& access, std::size_t component,
                             std::uint32_t number) {
  Block& own = *access.warp.block;
  auto& uses = tensor_memory(access.owner).shadow.uses;
  uses.push_back({access.site, own.rank, own.thread(access.warp, access.lane), component, number,
                  own.order.segment(access.warp.index), access.is_pipelined,
                  access.what == std::string_view("tcgen05.ld"), access.what});
  return static_cast<std::uint32_t>(uses.size() - 1);
}

namespace {

/// The address of the warp's access; nullopt after a report. All lanes must give the same one. A warp reaches
/// only its quarter of the lanes (PTX ISA, 9.7.16.8.1, "Access restrictions"). Lane 0 names the first lane of
/// the quarter, too: kernels that are known to work add no lane to the address.
std::optional<TensorAddress> address_of_access(Warp& warp, const Instr& instr,
                                               const TensorAccessOp& op, const char* what) {
  const int lane = first_lane(warp.mask);
  const auto bits = static_cast<std::uint32_t>(address_of(warp, op.address, lane));
  for (Mask left = warp.mask; left != 0; left &= left - 1) {
    if (static_cast<std::uint32_t>(address_of(warp, op.address, first_lane(left))) == bits)
      continue;
    misuse_tensor_memory(warp, first_lane(left), instr.site, what, TensorAddress::of(bits),
                         "the lanes of the warp give different addresses");
    return std::nullopt;
  }
  TensorAddress address = TensorAddress::of(bits);
  // In the second block of a pair, lanes may count on from the first block's: they are rows of D (9.7.16.10.5, layout A).
  if (address.lane >= tensor_lanes && warp.block->rank % 2 == 1) address.lane -= tensor_lanes;
  const int own = warp.index % warps_of_group * lanes_of_warp;
  const int first = address.lane / lanes_of_warp * lanes_of_warp;
  if (first == 0) address.lane += own;
  const int lanes = op.fragment.lanes();
  if ((first != 0 && first != own) || address.lane % lanes != 0) {
    misuse_tensor_memory(warp, lane, instr.site, what, TensorAddress::of(bits),
                         address.lane % lanes != 0
                             ? fmt::format("lane {} is not a multiple of {}", address.lane, lanes)
                             : fmt::format("warp {} reaches lanes {} to {} only", warp.index, own,
                                           own + lanes_of_warp - 1));
    return std::nullopt;
  }
  return address;
}

/// Ranges of cells: two for .16x32bx2.
int ranges_of(const TensorFragment& fragment, TensorAddress at, TensorRange (&ranges)[2]) {
  const TensorRange first = {at.lane, fragment.lanes(), at.column, fragment.columns()};
  ranges[0] = ranges[1] = first;
  ranges[1].column += fragment.split;
  return fragment.shape == TensorShape::l16_b32_twice ? 2 : 1;
}

/// Copies between registers and cells.
void move_cells(Warp& warp, TensorMemory& memory, const TensorAccessOp& op, TensorAddress at) {
  const TensorFragment& fragment = op.fragment;
  for (int i = 0; i < fragment.registers(); ++i) {
    auto* const row = warp.row<std::uint32_t>(op.rows[static_cast<std::size_t>(i)]);
    if (fragment.shape == TensorShape::l32_b32 && !fragment.packed) {
      std::uint32_t* const cells = memory.column(at.column + i) + at.lane;
      std::memcpy(op.loads ? row : cells, op.loads ? cells : row, warp_size * sizeof *row);
      continue;
    }
    for (int thread = 0; thread < warp_size; ++thread) {
      const TensorAddress cell = cell_of(fragment, thread, i);
      std::uint32_t& low = memory.cell(at.lane + cell.lane, at.column + cell.column);
      if (!fragment.packed) {
        (op.loads ? row[thread] : low) = op.loads ? low : row[thread];
        continue;
      }
      std::uint32_t& high = memory.cell(at.lane + cell.lane, at.column + cell.column + 1);
      if (op.loads) {
        row[thread] = (low & 0xFFFFu) | high << 16;
      } else {
        low = row[thread] & 0xFFFFu;
        high = row[thread] >> 16;
      }
    }
  }
}

template <class T>
T reduced(const TensorReduction& reduction, T all, T next) {
  if constexpr (std::is_same_v<T, float>) {
    if (reduction.of_magnitudes) next = std::fabs(next);
    // min and max prefer the number to a NaN, as the instructions of these names do (9.7.3.12).
    const bool has_nan = std::isnan(all) || std::isnan(next);
    if (has_nan && reduction.keeps_nan) return std::bit_cast<float>(0x7FFFFFFFu);
    return reduction.is_max ? std::fmax(all, next) : std::fmin(all, next);
  } else {
    return reduction.is_max ? std::max(all, next) : std::min(all, next);
  }
}

template <class T>
void reduce_rows(Warp& warp, const TensorAccessOp& op) {
  const auto value = [&](std::size_t i, int thread) {
    return std::bit_cast<T>(warp.row<std::uint32_t>(op.rows[i])[thread]);
  };
  for (int thread = 0; thread < warp_size; ++thread) {
    T all = value(0, thread);
    if constexpr (std::is_same_v<T, float>) all = op.reduction.of_magnitudes ? std::fabs(all) : all;
    for (std::size_t i = 1; i < op.rows.size(); ++i)
      all = reduced(op.reduction, all, value(i, thread));
    warp.row<std::uint32_t>(op.reduction.row)[thread] = std::bit_cast<std::uint32_t>(all);
  }
}

void reduce(Warp& warp, const TensorAccessOp& op) {
  using enum TensorReduction::Type;
  switch (op.reduction.type) {
    case f32: return reduce_rows<float>(warp, op);
    case u32: return reduce_rows<std::uint32_t>(warp, op);
    case s32: return reduce_rows<std::int32_t>(warp, op);
    case none: return;
  }
}

void run_access(Warp& warp, const Instr& instr, const char* what) {
  const auto& op = instr.op<TensorAccessOp>();
  Block& block = *warp.block;
  if (warp.mask != all_lanes) report_bad_participant(warp, instr, ~warp.mask);
  const auto at = address_of_access(warp, instr, op, what);
  if (!at) return;
  const int lane = first_lane(warp.mask);
  TensorRange ranges[2];
  const int count = ranges_of(op.fragment, *at, ranges);
  for (int i = 0; i < count; ++i) {
    if (!check_allocated(block, warp, lane, instr.site, what, ranges[i])) return;
  }
  TensorWarp& state = block.async->tensor->warps[static_cast<std::size_t>(warp.index)];
  if (block.worker.observe) {
    const AsyncOrder& order = block.cluster.order;
    const TensorAccess access{block, warp, lane, instr.site, what};
    const std::uint32_t use =
        op.loads ? add_tensor_use(access, order.loaded(block.rank, warp.index), ++state.loads)
                 : add_tensor_use(access, order.stored(block.rank, warp.index), ++state.stores);
    for (int i = 0; i < count; ++i) {
      check_tensor_use(access, ranges[i],
                       op.loads ? TensorAccessKind::read : TensorAccessKind::write);
      note_tensor_use(access, ranges[i], !op.loads, use);
      SumsInUse& sums = tensor_memory(block).in_use;
      op.loads ? sums.use(block, ranges[i]) : sums.begin(ranges[i]);
    }
  }
  move_cells(warp, tensor_memory(block), op, *at);
  reduce(warp, op);
}

}  // namespace

void run_tensor_load(Warp& warp, const Instr& instr) { run_access(warp, instr, "tcgen05.ld"); }
void run_tensor_store(Warp& warp, const Instr& instr) { run_access(warp, instr, "tcgen05.st"); }

void run_tensor_wait_loads(Warp& warp, const Instr& instr) {
  Block& block = *warp.block;
  if (warp.mask != all_lanes) report_bad_participant(warp, instr, ~warp.mask);
  AsyncOrder& order = block.cluster.order;
  order.of(block.rank, warp.index)[order.loaded(block.rank, warp.index)] =
      block.async->tensor->warps[static_cast<std::size_t>(warp.index)].loads;
}

void run_tensor_wait_stores(Warp& warp, const Instr& instr) {
  Block& block = *warp.block;
  if (warp.mask != all_lanes) report_bad_participant(warp, instr, ~warp.mask);
  AsyncOrder& order = block.cluster.order;
  order.of(block.rank, warp.index)[order.stored(block.rank, warp.index)] =
      block.async->tensor->warps[static_cast<std::size_t>(warp.index)].stores;
}

}  // namespace rung::vgpu
