// Layouts of tensor memory, of sparse fragments and block scales, and of columns of pixels (layout.hpp).

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "vgpu/engine/async/copied_box.hpp"
#include "vgpu/engine/matrix/fragment_places.hpp"
#include "vgpu/engine/matrix/narrow_multiply.hpp"
#include "vgpu/engine/matrix/sparse_multiply.hpp"
#include "vgpu/engine/tensor_memory/instruction_descriptor.hpp"
#include "vgpu/engine/tensor_memory/tensor_multiply.hpp"
#include "vgpu/layout.hpp"

namespace rung::vgpu::layout {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw std::invalid_argument(message); }

/// The instruction descriptor of a product of f16 with sums of f32.
std::uint32_t descriptor_of(const TensorProductForm& form) {
  return 1u << 4 | (form.sparse ? 1u << 2 : 0) | static_cast<std::uint32_t>(form.n / 8) << 17 |
         static_cast<std::uint32_t>(form.m / 16) << 24;
}

}  // namespace

Fragment tensor_sums(const TensorProductForm& form) {
  TensorMultiplyOp op;
  op.blocks = form.blocks;
  op.weight_stationary = form.weight_stationary;
  op.sparse = form.sparse;
  if (form.weight_stationary && form.blocks == 2) refuse(".ws is for one block");
  const InstructionDescriptor found = instruction_descriptor(op, descriptor_of(form));
  if (!found.error.empty() || found.m != form.m || found.n != form.n) {
    refuse(found.error.empty()
               ? fmt::format("m = {}, n = {}: expected multiples of 16 and 8", form.m, form.n)
               : found.error);
  }
  const int rows = form.m / form.blocks;
  const TensorLayout layout = layout_of_d(op, rows);
  Fragment result{fmt::format("D of tcgen05.mma{}{}, m{}n{}, .cta_group::{}, in tensor memory",
                              form.weight_stationary ? ".ws" : "", form.sparse ? ".sp" : "", form.m,
                              form.n, form.blocks),
                  "9.7.16.10.5",
                  form.m,
                  form.n,
                  form.blocks * tensor_lanes,
                  form.n / layout.parts,
                  1,
                  {},
                  true};
  for (int row = 0; row < form.m; ++row) {
    for (int column = 0; column < form.n; ++column) {
      const TensorAddress cell = cell_of_d(layout, form.n, row % rows, column);
      result.slots.push_back({row, column, row / rows * tensor_lanes + cell.lane, cell.column, 0});
    }
  }
  return result;
}

Fragment tensor_scales(char operand, int lines, int scales, int first_byte) {
  const bool is_k96 = scales == 3 || scales == 6;
  const int step = scales == 3 ? 1 : scales == 6 ? 2 : scales;
  if (scales < 1 || scales == 5 || scales > 6 || first_byte < 0 || first_byte > 3 ||
      first_byte % step != 0) {
    refuse(
        fmt::format("{} scales from byte {}: expected 1, 2, 3, 4 or 6, from a byte below 4 that is "
                    "a multiple of {}",
                    scales, first_byte, step));
  }
  Fragment result{fmt::format("scales of {} of tcgen05.mma, {} {}, {} along k{}", operand, lines,
                              operand == 'A' ? "rows" : "columns", scales, is_k96 ? " of 96" : ""),
                  "9.7.16.10.7",
                  lines,
                  scales,
                  32,
                  0,
                  4,
                  {},
                  true};
  for (int line = 0; line < lines; ++line) {
    for (int i = 0; i < scales; ++i) {
      const ScalePlace place = place_of_scale(line, first_byte + i, lines);
      result.registers = std::max(result.registers, place.column + 1);
      result.slots.push_back({line, i, place.lane, place.column, place.byte});
    }
  }
  return result;
}

Fragment sparse_fragment(std::string_view shape, MatrixElement type, MatrixElement sum,
                         char operand, int selector) {
  ptx::Instruction instruction;
  instruction.set_opcode("mma");
  instruction.modifiers = {"sp", "sync", "aligned", std::string(shape), "row", "col"};
  for (const auto& each : {name(sum), name(type), name(type), name(sum)}) {
    instruction.modifiers.emplace_back(each);
  }
  auto op = sparse_multiply_form(instruction);
  if (!op) {
    refuse(
        fmt::format("'{}' is no shape of mma.sp with {} and sums of {}; 16 bits have m16n8k16 and "
                    "m16n8k32, tf32 m16n8k8 and m16n8k16, s8 and u8 m16n8k32 and m16n8k64, 8-bit "
                    "floats m16n8k64",
                    shape, name(type), name(sum)));
  }
  if (selector < 0 || selector >= op->selectors()) {
    refuse(fmt::format("selector {}: 0 to {}", selector, op->selectors() - 1));
  }
  op->selector = selector;
  const bool is_sum = operand == 'C' || operand == 'D';
  const int packed = operand == 'E' ? 8 : per_register(is_sum ? sum : type);
  Fragment result{fmt::format("{} of mma.sp.{}, {}", operand, shape,
                              operand == 'E' ? "metadata" : name(is_sum ? sum : type)),
                  "9.7.14.6",
                  operand == 'B' ? op->k : 16,
                  operand == 'A'   ? op->k / 2
                  : operand == 'E' ? op->chunks()
                                   : 8,
                  warp_size,
                  operand == 'A'   ? op->a_registers()
                  : operand == 'B' ? op->b_registers()
                  : operand == 'E' ? 1
                                   : op->sum_registers(),
                  packed,
                  {}};
  if (operand == 'E') {
    for (int row = 0; row < 16; ++row) {
      for (int chunk = 0; chunk < op->chunks(); ++chunk) {
        const MetadataPlace place = metadata_place(*op, row, chunk);
        result.slots.push_back({row, chunk, place.lane, 0, place.bit / 4});
      }
    }
    return result;
  }
  for (int lane = 0; lane < warp_size; ++lane) {
    for (int reg = 0; reg < result.registers; ++reg) {
      for (int index = 0; index < packed; ++index) {
        const MatrixPlace at = operand == 'A'   ? place_in_a(16, packed, lane, reg, index)
                               : operand == 'B' ? place_in_b(packed, lane, reg, index)
                                                : place_in_sum(packed, lane, reg, index);
        result.slots.push_back({at.row, at.column, lane, reg, index});
      }
    }
  }
  return result;
}

Fragment scale_fragment(char operand, int scales, int byte, int thread) {
  const bool is_a = operand == 'A';
  const int threads = is_a ? 2 : 4;
  if ((scales != 1 && scales != 2 && scales != 4) || byte < 0 || byte > 3 || byte % scales != 0 ||
      thread < 0 || thread >= threads) {
    refuse(
        fmt::format("{} scales, byte {}, thread {}: expected 1, 2 or 4 scales, a byte below 4 that "
                    "is a multiple of them, and a thread below {}",
                    scales, byte, thread, threads));
  }
  Fragment result{
      fmt::format("scales of {} of mma.sync.block_scale.scale_vec::{}X", operand, scales),
      "9.7.14.3",
      is_a ? 16 : 8,
      scales,
      warp_size,
      1,
      4,
      {}};
  for (int line = 0; line < result.rows; ++line) {
    const int lane = is_a ? lane_of_a_scales(line, thread) : lane_of_b_scales(line, thread);
    for (int i = 0; i < scales; ++i) result.slots.push_back({line, i, lane, 0, byte + i});
  }
  return result;
}

std::vector<Chunk> pixel_chunks(const TensorMap& map,
                                const std::array<std::int32_t, TensorMap::max_dimensions>& at,
                                const std::array<std::int32_t, TensorMap::max_spatial>& offsets,
                                std::uint32_t address) {
  CopiedBox box;
  box.map = map;
  box.map.address = 0;
  box.at = at;
  box.offsets = offsets;
  if (const std::string error = position_error(box); !error.empty()) refuse(error);
  std::vector<Chunk> chunks;
  for (const BoxRow& row : rows_of(box)) {
    if (row.inside == 0) continue;
    for_each_chunk(map, row, address,
                   [&](std::uint32_t to, std::uint32_t done, std::uint32_t bytes) {
                     if (done < row.skipped || done >= row.skipped + row.inside) return;
                     Chunk chunk{{}, to, bytes};
                     std::uint64_t place = row.address + done - row.skipped;
                     for (std::size_t i = map.dimensions; i-- > 1;) {
                       chunk.at[i] = static_cast<std::int32_t>(place / map.strides[i - 1]);
                       place %= map.strides[i - 1];
                     }
                     chunk.at[0] = static_cast<std::int32_t>(place * 8 / bits_of(map.element));
                     chunks.push_back(chunk);
                   });
  }
  return chunks;
}

}  // namespace rung::vgpu::layout
