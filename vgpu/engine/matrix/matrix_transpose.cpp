#include "vgpu/engine/matrix/matrix_transpose.hpp"

#include <cstring>
#include <string>
#include <vector>

#include "vgpu/engine/matrix/transpose_square.hpp"
#include "vgpu/engine/warp/warp_ops.hpp"
#include "vgpu/model/warp.hpp"
#include "vgpu/ptx/opcodes.hpp"

namespace rung::vgpu {
namespace {

constexpr int size = square_size;  // rows and columns

/// Each lane holds two adjacent elements of a row, and four lanes form a row, so the lanes are in
/// row-major order.
void transpose(Warp& warp, const Instr& instr) {
  if (warp.mask != all_lanes) report_bad_participant(warp, instr, ~warp.mask);
  auto* const d = warp.row<std::uint16_t>(instr.rows[0]);
  const auto* const a = warp.row<const std::uint16_t>(instr.rows[1]);
  Square turned;  // a copy: the destination may be the source
  transpose_square([&](int row) { return a + row * size; }, turned);
  if (warp.mask == all_lanes) {
    std::memcpy(d, turned, sizeof turned);
    return;
  }
  for (int element = 0; element < size * size; ++element) {
    if (((warp.mask >> (element / 2)) & 1) != 0)
      d[element] = turned[element / size][element % size];
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
