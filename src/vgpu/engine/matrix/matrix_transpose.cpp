#include "vgpu/engine/matrix/matrix_transpose.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "vgpu/engine/warp/warp_ops.hpp"
#include "vgpu/model/warp.hpp"

namespace rung::vgpu {
namespace {

constexpr int size = 8;  // rows and columns

/// Each lane holds two adjacent elements of a row, four lanes per row, so the lanes are in
/// row-major order.
void transpose(Warp& warp, const Instr& instr) {
  if (warp.mask != all_lanes) report_bad_participant(warp, instr, ~warp.mask);
  auto* const d = warp.row<std::uint16_t>(instr.rows[0]);
  std::uint16_t a[size * size];  // the destination may be the source
  std::copy_n(warp.row<const std::uint16_t>(instr.rows[1]), size * size, a);
  for (int row = 0; row < size; ++row) {
    for (int column = 0; column < size; ++column) {
      const int element = row * size + column;
      if (((warp.mask >> (element / 2)) & 1) != 0) d[element] = a[column * size + row];
    }
  }
}

}  // namespace

Handler matrix_transpose_handler() { return transpose; }

std::optional<OpSpec> matrix_transpose(const ptx::Instruction& instruction) {
  const std::vector<std::string> modifiers = {"sync", "aligned", "m8n8", "trans", "b16"};
  if (instruction.opcode != ptx::Opcode::movmatrix || instruction.modifiers != modifiers)
    return std::nullopt;
  OpSpec spec;
  spec.full = spec.masked = transpose;
  spec.operands = {ptx::Type::b32, ptx::Type::b32};
  return spec;
}

}  // namespace rung::vgpu
