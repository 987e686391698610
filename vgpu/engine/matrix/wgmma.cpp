#include "vgpu/engine/matrix/wgmma.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <vector>

#include "vgpu/engine/async/async_state.hpp"
#include "vgpu/engine/execution/cluster.hpp"
#include "vgpu/engine/execution/report.hpp"
#include "vgpu/engine/matrix/matrix_descriptor.hpp"
#include "vgpu/engine/matrix/matrix_elements.hpp"
#include "vgpu/engine/observers.hpp"
#include "vgpu/engine/warp/warp_ops.hpp"
#include "vgpu/model/layout_watch.hpp"

namespace rung::vgpu {
namespace {

using Element = MatrixElement;

constexpr int warps_of_group = 4;
constexpr std::uint32_t chunk = operand_chunk;

/// A matrix in shared memory, and the destination of its words in a WgmmaTile.
struct Source : MatrixOperand {
  Element type;
  std::uint32_t* to;
  /// Strides of `to`, in words; one of them is 1. Unused if transposed.
  std::uint32_t line_step, k_step;
};

/// One warp's wgmma.
struct Multiply {
  Warp& warp;
  const Instr& instr;
  const WgmmaOp& op;
  std::uint32_t number;  // among those of the warp

  Block& block() const { return *warp.block; }
  int thread() const { return block().thread(warp, 0); }
};

/// Copies the chunks to source.to. Returns the address of a chunk that exceeds `end`, or 0 if all
/// are inside.
std::uint32_t copy_chunks(Source source, const std::byte* shared, std::uint32_t end) {
  const auto per_word = static_cast<std::uint32_t>(per_register(source.type));
  std::uint32_t outside = 0;
  const auto copy = [&](std::uint32_t address, std::uint32_t to, std::uint32_t step) {
    const bool fits = address + chunk <= end;
    if (!fits) outside = address;
    std::array<std::uint32_t, chunk / 4> words;
    std::memcpy(words.data(), shared + (fits ? address : 0), chunk);
    for (std::size_t i = 0; i < words.size(); ++i) source.to[to + i * step] = words[i];
  };
  if (end < chunk) return source.descriptor.start;
  if (source.transposed) {
    source.for_each_chunk([&](std::uint32_t address, std::uint32_t line, std::uint32_t k) {
      copy(address, (k * source.lines + line - source.first) / 2, 1);
    });
  } else if (source.k_step == 1) {
    source.for_each_chunk([&](std::uint32_t address, std::uint32_t line, std::uint32_t k) {
      copy(address, (line - source.first) * source.line_step + k / per_word, 1);
    });
  } else {
    source.for_each_chunk([&](std::uint32_t address, std::uint32_t line, std::uint32_t k) {
      copy(address, line - source.first + k / per_word * source.k_step, source.k_step);
    });
  }
  return outside;
}

/// Loads the matrix. Returns false, after a report, if part of it is outside the block's shared
/// memory.
bool load(const Multiply& multiply, const Source& source) {
  Block& block = multiply.block();
  const std::uint32_t end = block.worker.launch.shared_bytes;
  const std::uint32_t outside = copy_chunks(source, block.shared.data(), end);
  if (outside == 0) return true;
  report(block, HazardKind::out_of_bounds, multiply.thread(), multiply.instr.site, "wgmma",
         fmt::format("shared memory + {:#x}", outside),
         fmt::format("a descriptor leads outside of the block's shared memory of {} bytes", end));
  block.worker.launch.stop = true;
  return false;
}

/// Observes the reads of the whole warpgroup, each once.
void observe(const Multiply& multiply, const Source& source, std::uint32_t read) {
  Block& block = multiply.block();
  const AsyncAccess access{block, multiply.warp, 0, multiply.instr.site, "wgmma"};
  const int group = multiply.warp.index / warps_of_group;
  thread_local std::vector<AsyncRange> ranges;
  ranges.clear();
  source.for_each_chunk([&](std::uint32_t address, std::uint32_t, std::uint32_t) {
    if (!ranges.empty() && address == ranges.back().offset + ranges.back().bytes) {
      ranges.back().bytes += chunk;
    } else {
      ranges.push_back({address, chunk});
    }
  });
  block.observers.check_async_read(access, ranges, false);
  block.observers.note_async_read(access, ranges, group, read);
}

std::uint64_t descriptor_bits(const Multiply& multiply, std::uint32_t row) {
  return multiply.warp.row<std::uint64_t>(row)[0];
}

Source source_a(const Multiply& multiply, WgmmaTile& tile) {
  const WgmmaOp& op = multiply.op;
  const auto rows = static_cast<std::uint32_t>(wgmma_rows);
  const auto quarter = static_cast<std::uint32_t>(multiply.warp.index % warps_of_group);
  return {{wgmma_descriptor(descriptor_bits(multiply, op.a_descriptor)), element_bits(op.a),
           op.transpose_a, quarter * rows, rows, op.k},
          op.a,
          tile.a.data(),
          1,
          static_cast<std::uint32_t>(wgmma_rows)};
}

Source source_b(const Multiply& multiply, WgmmaTile& tile) {
  const WgmmaOp& op = multiply.op;
  return {{wgmma_descriptor(descriptor_bits(multiply, op.b_descriptor)), element_bits(op.b),
           op.transpose_b, 0, static_cast<std::uint32_t>(op.n), op.k},
          op.b,
          tile.b.data(),
          static_cast<std::uint32_t>(op.k / per_register(op.b)),
          1};
}

/// Reports both descriptors to the watcher, for the first warp of block 0's warpgroup.
void tell_operands(const Multiply& multiply) {
  const WgmmaOp& op = multiply.op;
  if (multiply.block().linear != 0 || multiply.warp.index % warps_of_group != 0) return;
  LayoutUse use;
  use.site = multiply.instr.site;
  use.operand = 'B';
  use.element = op.b;
  use.lines = op.n;
  use.k = op.k;
  use.transposed = op.transpose_b;
  use.descriptor = descriptor_bits(multiply, op.b_descriptor);
  (*layout_watcher.load())(use);
  if (op.a_in_registers) return;
  use.operand = 'A';
  use.element = op.a;
  use.lines = warps_of_group * wgmma_rows;
  use.transposed = op.transpose_a;
  use.descriptor = descriptor_bits(multiply, op.a_descriptor);
  (*layout_watcher.load())(use);
}

/// The shadow entry of this wgmma of the warpgroup. Sets `is_first` if this is the first warp to
/// execute it.
std::uint32_t read_of(const Multiply& multiply, bool& is_first) {
  Block& block = multiply.block();
  AsyncShadow& shadow = block.async->shadow;
  const int group = multiply.warp.index / warps_of_group;
  auto& known = block.async->multiplies[static_cast<std::size_t>(group)];
  is_first = multiply.number > known.size();
  if (is_first) {
    known.push_back(static_cast<std::uint32_t>(shadow.reads.size()));
    shadow.reads.push_back({multiply.instr.site, block.rank, multiply.thread(),
                            block.cluster.order.multiplied(block.rank, group), multiply.number,
                            "wgmma"});
  }
  const std::uint32_t read = known[multiply.number - 1];
  if (shadow.reads[read].site != multiply.instr.site) {
    report(block, HazardKind::bad_participant, multiply.thread(), multiply.instr.site, "wgmma", {},
           "the other warps of its warpgroup run another wgmma");
  }
  return read;
}

AsyncGroups& groups_of(Warp& warp) {
  return warp.block->async->warps[static_cast<std::size_t>(warp.index)].multiplies;
}

}  // namespace

void run_wgmma(Warp& warp, const Instr& instr) {
  thread_local WgmmaTile tile;
  const auto& op = instr.op<WgmmaOp>();
  if (warp.mask != all_lanes) report_bad_participant(warp, instr, ~warp.mask);
  const Multiply multiply{warp, instr, op, ++groups_of(warp).issued};
  const Source b = source_b(multiply, tile);
  if (!op.a_in_registers && !load(multiply, source_a(multiply, tile))) return;
  if (!load(multiply, b)) return;
  if (warp.block->worker.observe) {
    if (layout_watcher.load() != nullptr) tell_operands(multiply);
    bool is_first = false;
    const std::uint32_t read = read_of(multiply, is_first);
    if (!op.a_in_registers) observe(multiply, source_a(multiply, tile), read);
    if (is_first) observe(multiply, b, read);
  }
  const bool adds = (warp.predicate(op.scale_d) & 1) != 0;
  static const WgmmaMultiply multiply_tile = wgmma_multiply();
  multiply_tile(warp, op, tile, adds);
}

void report_wgmma_register(Warp& warp, const Instr& instr) {
  if (!warp.block->worker.observe) return;
  const auto& what = instr.op<WgmmaRegisterReport>();
  report(*warp.block, what.in_flight ? HazardKind::in_flight : HazardKind::missing_fence,
         warp.block->thread(warp, first_lane(warp.mask)), instr.site, "access", {}, what.message);
}

void commit_wgmma(Warp& warp, const Instr&) { groups_of(warp).commit(); }

void wait_wgmma(Warp& warp, const Instr& instr) {
  const std::uint32_t ended = groups_of(warp).wait(instr.imm);
  Block& block = *warp.block;
  if (!block.worker.observe || ended == 0) return;
  AsyncOrder& order = block.cluster.order;
  std::uint32_t& known =
      order.of(block.rank, warp.index)[order.multiplied(block.rank, warp.index / warps_of_group)];
  known = std::max(known, ended);
}

}  // namespace rung::vgpu
