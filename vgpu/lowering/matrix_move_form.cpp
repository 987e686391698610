#include "vgpu/lowering/matrix_move_form.hpp"

#include <string_view>

#include "vgpu/ptx/opcodes.hpp"

namespace rung::vgpu {

std::optional<MatrixMove> matrix_move_form(const ptx::Instruction& instruction) {
  const auto is = [&](std::string_view modifier) { return instruction.has(modifier); };
  const int matrices = is("x4") ? 4 : is("x2") ? 2 : 1;
  const bool widens = is("b8x16") && is("b4x16_p64") != is("b6x16_p32");
  MatrixMove move;
  move.loads = instruction.opcode == ptx::Opcode::ldmatrix;
  move.transposed = is("trans");
  move.groups = matrices;
  move.bits = is("b16") ? 16 : is("b4x16_p64") ? 4 : is("b6x16_p32") ? 6 : 8;
  if (is("m8n8")) return is("b16") ? std::optional(move) : std::nullopt;
  if (is("m16n8")) {
    const bool fits = !move.loads && move.transposed && is("b8");
    return fits ? std::optional(move) : std::nullopt;
  }
  if (!move.loads) return std::nullopt;
  if (is("m8n16")) return widens && !move.transposed ? std::optional(move) : std::nullopt;
  // A matrix of 16 x 16 takes the addresses of 16 lanes, and two registers.
  const bool fits = is("m16n16") && move.transposed && matrices <= 2 && (widens || is("b8"));
  move.groups = 2 * matrices;
  return fits ? std::optional(move) : std::nullopt;
}

}  // namespace rung::vgpu
