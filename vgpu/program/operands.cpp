#include "vgpu/program/operands.hpp"

#include "vgpu/ptx/opcodes.hpp"

namespace rung::vgpu {

using ptx::Fact;
using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;

bool has_destination(const Instruction& instruction) {
  if (instruction.operands.empty()) return false;
  const Operand& first = instruction.operands[0];
  if (first.kind == Operand::Kind::address) return false;
  switch (instruction.opcode) {
    case Opcode::bar:
    case Opcode::barrier: return instruction.has("red");
    case Opcode::wgmma: return instruction.has("mma_async");
    case Opcode::tcgen05: return instruction.has("ld");
    // `call (result), name, (arguments)` has one; `call name, (arguments)` does not.
    case Opcode::call: return first.kind == Operand::Kind::tuple;
    default: return !instruction.has(Fact::no_result);
  }
}

bool reads_destination(const Instruction& instruction) {
  return instruction.opcode == Opcode::wgmma;
}

bool works_in_place(const Instruction& instruction) {
  if (!instruction.has(Fact::in_place) || instruction.has("cc")) return false;
  return instruction.operands[0].kind == Operand::Kind::reg;
}

}  // namespace rung::vgpu
