#include "vgpu/program/operands.hpp"

#include <set>
#include <string_view>

namespace rung::vgpu {
namespace {

using ptx::Instruction;
using ptx::Operand;

/// Instructions whose first operand is a source, where it is no address: stores and their like
/// begin with one.
bool has_sources_only(const Instruction& instruction) {
  static const std::set<std::string_view> opcodes = {
      "bra",    "brkpt",     "brx",     "cp",  "exit",       "fence",        "griddepcontrol",
      "membar", "nanosleep", "pmevent", "ret", "setmaxnreg", "stackrestore", "trap"};
  return opcodes.contains(instruction.opcode);
}

}  // namespace

bool has_destination(const Instruction& instruction) {
  if (instruction.operands.empty()) return false;
  const Operand& first = instruction.operands[0];
  if (first.kind == Operand::Kind::address) return false;
  const std::string& opcode = instruction.opcode;
  if (opcode == "bar" || opcode == "barrier") return instruction.has("red");
  if (opcode == "wgmma") return instruction.has("mma_async");
  // `call (result), name, (arguments)`, but `call name, (arguments)`.
  if (opcode == "call") return first.kind == Operand::Kind::tuple;
  return !has_sources_only(instruction);
}

bool reads_destination(const Instruction& instruction) { return instruction.opcode == "wgmma"; }

bool works_in_place(const Instruction& instruction) {
  static const std::set<std::string_view> opcodes = {
      "abs", "add", "and", "cvt", "fma",  "lop3", "mad", "max", "min", "mov",
      "mul", "neg", "not", "or",  "selp", "setp", "shl", "shr", "sub", "xor"};
  if (!opcodes.contains(instruction.opcode) || instruction.has("cc")) return false;
  return instruction.operands[0].kind == Operand::Kind::reg;
}

}  // namespace rung::vgpu
