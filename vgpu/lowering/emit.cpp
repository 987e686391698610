// Appends instructions to the kernel, and determines the rows of their operands.

#include <fmt/format.h>

#include <algorithm>

#include "vgpu/engine/control/guard.hpp"
#include "vgpu/lowering/lowering.hpp"
#include "vgpu/program/operands.hpp"

namespace rung::vgpu {

using ptx::Type;

void Lowering::emit(Instr instr) {
  instr.site = site_;
  const Instruction& instruction = function_.body[site_];
  if (instruction.guard >= 0) {
    // Lanes disabled by the guard are counted once, even if the instruction is lowered to several.
    const bool first = guarded_site_ != site_;
    guarded_site_ = site_;
    kernel_->guarded.push_back(instr);
    // The copy must point to its own rows.
    Instr& inner = kernel_->guarded.back();
    if (instr.rows == nullptr) inner.rows = inner.row.data();
    instr = guarded_by(inner, register_row(instruction.guard), instruction.guard_negated, first);
    instr.site = site_;
  }
  kernel_->code.push_back(instr);
}

void Lowering::emit(Handler handler, std::uint64_t imm, std::vector<std::uint32_t> rows) {
  Instr instr{};
  instr.full = instr.masked = handler;
  instr.imm = imm;
  set_rows(instr, std::move(rows));
  emit(instr);
}

void Lowering::emit_unguarded(Handler handler, std::uint64_t imm, std::vector<std::uint32_t> rows) {
  Instr instr{};
  instr.full = instr.masked = handler;
  instr.imm = imm;
  instr.site = site_;
  set_rows(instr, std::move(rows));
  kernel_->code.push_back(instr);
}

void Lowering::set_rows(Instr& instr, std::vector<std::uint32_t> rows) {
  if (rows.size() <= instr.row.size()) {
    std::copy(rows.begin(), rows.end(), instr.row.begin());
    instr.rows = nullptr;  // its own rows; set when the code no longer moves
    return;
  }
  kernel_->operand_lists.push_back(std::move(rows));
  instr.rows = kernel_->operand_lists.back().data();
  std::copy_n(instr.rows, instr.row.size(), instr.row.begin());
}

std::uint32_t Lowering::register_row(int reg) const {
  return allocation_.offset[static_cast<std::size_t>(reg)];
}

int Lowering::register_bytes(int reg) const {
  return row_bytes(function_.registers[static_cast<std::size_t>(reg)].type);
}

std::uint32_t Lowering::scratch_row(std::size_t index) {
  while (scratch_.size() <= index) scratch_.push_back(rows_->scratch());
  return scratch_[index];
}

std::uint64_t Lowering::address_of(const Instruction& instruction,
                                   const std::string& symbol) const {
  for (const auto* offsets : {&shared_offsets_, &local_offsets_, &parameter_offsets_}) {
    const auto found = offsets->find(symbol);
    if (found != offsets->end()) return found->second;
  }
  if (const auto address = symbol_address_(symbol)) return *address;
  fail(instruction, fmt::format("names '{}', which is not there", symbol));
}

/// The row of an operand that is not a register.
std::uint32_t Lowering::source_row(const Instruction& instruction, const Operand& operand,
                                   Type type) {
  switch (operand.kind) {
    case Operand::Kind::reg: return row_of(instruction, operand, type);
    case Operand::Kind::immediate:
      return rows_->constant(row_bytes(type), immediate_bits(operand, type));
    case Operand::Kind::symbol:
      return rows_->constant(row_bytes(type), address_of(instruction, operand.name) +
                                                  static_cast<std::uint64_t>(operand.offset));
    case Operand::Kind::special: {
      const auto special = special_named(operand.name);
      if (!special)
        fail(instruction,
             fmt::format("reads %{}, which the virtual GPU does not have", operand.name));
      return rows_->special(*special, row_bytes(type));
    }
    default: fail(instruction, "has an operand of a kind that does not fit");
  }
}

std::uint32_t Lowering::row_of(const Instruction& instruction, const Operand& operand, Type type) {
  if (register_bytes(operand.reg) != row_bytes(type)) {
    fail(instruction, fmt::format("takes a .{} in register {} of another width", ptx::name(type),
                                  function_.registers[static_cast<std::size_t>(operand.reg)].name));
  }
  return register_row(operand.reg);
}

/// All operands, with the elements of vectors and pairs listed separately.
std::vector<const ptx::Operand*> Lowering::flattened(const Instruction& instruction) const {
  std::vector<const Operand*> operands;
  for (const Operand& operand : instruction.operands) {
    if (operand.kind == Operand::Kind::vector || operand.kind == Operand::Kind::pair) {
      for (const Operand& element : operand.elements) operands.push_back(&element);
    } else {
      operands.push_back(&operand);
    }
  }
  return operands;
}

}  // namespace rung::vgpu
