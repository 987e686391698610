#include "vgpu/lowering/stack_writer.hpp"

#include <fmt/format.h>

#include <utility>

#include "vgpu/ptx/build_operand.hpp"
#include "vgpu/ptx/opcodes.hpp"

namespace rung::vgpu {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;

void StackWriter::place(std::string label) {
  result_.labels.push_back({std::move(label), result_.body.size()});
}

void StackWriter::emit(const Instruction& from, Opcode opcode, std::vector<std::string> modifiers,
                       std::vector<Operand> operands) {
  Instruction instruction = from;
  instruction.opcode = opcode;
  instruction.modifiers = std::move(modifiers);
  instruction.operands = std::move(operands);
  if (opcode != Opcode::bra) instruction.guard = -1;
  result_.body.push_back(std::move(instruction));
}

int StackWriter::add_register(std::string name, ptx::Type type) {
  result_.registers.push_back({std::move(name), type});
  return static_cast<int>(result_.registers.size()) - 1;
}

std::string StackWriter::type_of(const Operand& passed) const {
  if (passed.kind != Operand::Kind::reg) return "b64";
  const ptx::Type type = result_.registers[static_cast<std::size_t>(passed.reg)].type;
  return fmt::format("b{}", 8 * ptx::size_of(type));
}

Operand StackWriter::frame_address(std::int64_t offset) const {
  Operand address = ptx::register_operand(stack_pointer_);
  address.kind = Operand::Kind::address;
  address.offset = offset;
  return address;
}

void StackWriter::move_stack_pointer(const Instruction& call, std::int64_t bytes) {
  if (bytes == 0) return;
  const Operand pointer = ptx::register_operand(stack_pointer_);
  emit(call, Opcode::add, {"s64"}, {pointer, pointer, ptx::immediate_operand(bytes)});
}

void StackWriter::save(const Instruction& call, const StackFrame::Saved& saved,
                       int first_register) {
  Operand value = ptx::register_operand(saved.reg + first_register);
  if (saved.is_predicate) {
    const Operand flag = ptx::register_operand(add_register("%saved_predicate", ptx::Type::b32));
    emit(call, Opcode::selp, {"b32"},
         {flag, ptx::immediate_operand(1), ptx::immediate_operand(0), value});
    value = flag;
  }
  emit(call, Opcode::st, {"local", type_of(value)}, {frame_address(saved.offset), value});
}

void StackWriter::restore(const Instruction& call, const StackFrame::Saved& saved,
                          int first_register) {
  const Operand value = ptx::register_operand(saved.reg + first_register);
  if (!saved.is_predicate) {
    emit(call, Opcode::ld, {"local", type_of(value)}, {value, frame_address(saved.offset)});
    return;
  }
  const Operand flag = ptx::register_operand(add_register("%saved_predicate", ptx::Type::b32));
  emit(call, Opcode::ld, {"local", "b32"}, {flag, frame_address(saved.offset)});
  emit(call, Opcode::setp, {"ne", "u32"}, {value, flag, ptx::immediate_operand(0)});
}

}  // namespace rung::vgpu
