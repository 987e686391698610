// tcgen05.cp: shared memory to tensor memory (PTX ISA, 9.7.16.9.2).

#include <fmt/format.h>

#include <array>
#include <cstring>

#include "vgpu/engine/execution/report.hpp"
#include "vgpu/engine/tensor_memory/tensor_operands.hpp"

namespace rung::vgpu {
namespace {

using Spread = TensorCopyOp::Spread;

/// The lanes that receive row `row` of the source, relative to the address; -1 after the last.
std::array<int, 4> lanes_of_row(const TensorCopyOp& op, int row) {
  switch (op.spread) {
    case Spread::all_warps: return {row, row + 32, row + 64, row + 96};
    case Spread::warps_02_13: return {row, row + 64, -1, -1};
    case Spread::warps_01_23: {
      const int lane = row / 32 * 64 + row % 32;
      return {lane, lane + 32, -1, -1};
    }
    case Spread::none: break;
  }
  return {op.lanes == 4 ? row * lanes_of_warp : row, -1, -1, -1};
}

/// Moves elements of 6 and 4 bits, packed in the first bytes of a chunk, to one byte each: 4-bit ones from bit
/// 2 on.
void decompress(int bits, std::uint8_t* chunk) {
  std::array<std::uint8_t, 16> wide;
  for (std::size_t i = 0; i < wide.size(); ++i) {
    const std::size_t at = i * static_cast<std::size_t>(bits);
    const std::uint32_t word = chunk[at / 8] | static_cast<std::uint32_t>(chunk[at / 8 + 1]) << 8;
    const std::uint32_t element = word >> (at % 8) & ((1u << bits) - 1);
    wide[i] = static_cast<std::uint8_t>(bits == 4 ? element << 2 : element);
  }
  std::memcpy(chunk, wide.data(), wide.size());
}

bool copy_to(const TensorIssue& issue, const TensorCopyOp& op, Block& block,
             const MatrixDescriptor& descriptor, TensorAddress at) {
  thread_local TensorTile tile;
  // Rows of bytes, as the rows of a K-major matrix.
  TensorSource source{block, "the source", descriptor,  TensorElement5::u8,
                      false, op.lanes,     op.bits / 8, 8};
  // Block scales are in global memory in the order of the copy: rows of their boxes are no lines.
  source.lines_are_rows = descriptor.swizzle != TensorSwizzle::none;
  if (!load_lines(issue, source, 0, tile)) return false;
  const int columns = op.bits / 32;
  const TensorRange range{at.lane, tensor_lanes - at.lane, at.column, columns};
  if (!use_cells(issue, block, range, true)) return false;
  TensorMemory& memory = tensor_memory(block);
  for (int row = 0; row < op.lanes; ++row) {
    std::uint8_t* const line = tile.lines[static_cast<std::size_t>(row)].data();
    for (int chunk = 0; op.source_bits != 0 && chunk < op.bits / 128; ++chunk) {
      decompress(op.source_bits, line + 16 * chunk);
    }
    for (const int lane : lanes_of_row(op, row)) {
      for (int column = 0; lane >= 0 && at.lane + lane < tensor_lanes && column < columns;
           ++column) {
        std::memcpy(&memory.cell(at.lane + lane, at.column + column), line + 4 * column, 4);
      }
    }
  }
  return true;
}

}  // namespace

void run_tensor_copy(Warp& warp, const Instr& instr) {
  const auto& op = instr.op<TensorCopyOp>();
  for (Mask left = warp.mask; left != 0; left &= left - 1) {
    const TensorIssue one = issue(warp, instr, first_lane(left), "tcgen05.cp");
    const auto bits = warp.row<std::uint64_t>(op.descriptor)[one.lane];
    bool known = false;
    const MatrixDescriptor descriptor = tcgen05_descriptor(bits, known);
    if (!known) {
      return one.fail(HazardKind::descriptor, fmt::format("descriptor {:#x}", bits),
                      "expected 1 in bits 46 to 48, and swizzle mode 0, 1, 2, 4 or 6");
    }
    const auto to =
        TensorAddress::of(static_cast<std::uint32_t>(address_of(warp, op.to, one.lane)));
    for (Block* const block : blocks_of(one, op.blocks)) {
      if (!copy_to(one, op, *block, descriptor, to)) return;
    }
  }
}

}  // namespace rung::vgpu
