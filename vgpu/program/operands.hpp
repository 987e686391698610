#pragma once
// Determines the registers that an instruction reads and writes.

#include <cstddef>

#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// True if the instruction writes to its first operand. An address does not count: stores write to
/// memory.
bool has_destination(const ptx::Instruction& instruction);

/// True if it also reads the first operand that it writes, such as accumulators of wgmma.
bool reads_destination(const ptx::Instruction& instruction);

/// True if it computes each lane's result only from that lane's operands, and reads all of them
/// before it writes. Then its destination may share the row of an operand of the same width.
bool works_in_place(const ptx::Instruction& instruction);

/// Calls f(register index) for every register that is read: sources, addresses and the guard.
template <class F>
void for_each_use(const ptx::Instruction& instruction, const F& f);

/// Calls f(register index) for every register that is written.
template <class F>
void for_each_definition(const ptx::Instruction& instruction, const F& f);

namespace operands {

template <class F>
void for_each_register(const ptx::Operand& operand, const F& f) {
  // The base of a tensor address is also one of its elements.
  if (operand.elements.empty() && operand.reg >= 0) f(operand.reg);
  for (const ptx::Operand& element : operand.elements) for_each_register(element, f);
}

}  // namespace operands

template <class F>
void for_each_use(const ptx::Instruction& instruction, const F& f) {
  if (instruction.guard >= 0) f(instruction.guard);
  const bool first_is_read = !has_destination(instruction) || reads_destination(instruction);
  for (std::size_t i = first_is_read ? 0 : 1; i < instruction.operands.size(); ++i) {
    operands::for_each_register(instruction.operands[i], f);
  }
}

template <class F>
void for_each_definition(const ptx::Instruction& instruction, const F& f) {
  if (has_destination(instruction)) operands::for_each_register(instruction.operands[0], f);
}

}  // namespace rung::vgpu
