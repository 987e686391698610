#pragma once
// Operands for instructions that the virtual GPU itself writes.

#include <string>
#include <utility>

#include "vgpu/ptx/module.hpp"

namespace rung::vgpu::ptx {

inline Operand named_operand(Operand::Kind kind, std::string name) {
  Operand operand;
  operand.kind = kind;
  operand.name = std::move(name);
  return operand;
}

inline Operand register_operand(int reg) {
  Operand operand;
  operand.kind = Operand::Kind::reg;
  operand.reg = reg;
  return operand;
}

inline Operand immediate_operand(std::int64_t value) {
  Operand operand;
  operand.kind = Operand::Kind::immediate;
  operand.bits = static_cast<std::uint64_t>(value);
  return operand;
}

/// Adds `first` to the index of every register in the operand.
inline void shift_registers(Operand& operand, int first) {
  if (operand.reg >= 0) operand.reg += first;
  for (Operand& element : operand.elements) shift_registers(element, first);
}

}  // namespace rung::vgpu::ptx
