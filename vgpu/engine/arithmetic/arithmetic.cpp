// Looks up the handler of an instruction, by its mnemonic and the form of its operands (p|q, a
// vector, a negated predicate, a constant).

#include "vgpu/engine/arithmetic/arithmetic.hpp"

#include <algorithm>

#include "vgpu/engine/arithmetic/operations.hpp"
#include "vgpu/engine/compare/compare.hpp"
#include "vgpu/ptx/opcodes.hpp"

namespace rung::vgpu {

OpSpec make_spec(Handler full, Handler masked, std::vector<ptx::Type> (*operands)()) {
  return {full, masked, operands()};
}

void OpTable::add(std::initializer_list<std::string_view> mnemonic, OpSpec spec) {
  std::string whole;
  for (const std::string_view part : mnemonic) whole += part;
  specs_.insert_or_assign(std::move(whole), std::move(spec));
}

const OpSpec* OpTable::find(const std::string& mnemonic) const {
  const auto found = specs_.find(mnemonic);
  return found == specs_.end() ? nullptr : &found->second;
}

namespace {

using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

/// If two groups add the same mnemonic, the later one wins, so the fast forms come last.
OpTable make_table() {
  OpTable table;
  for (const auto add : {add_moves,
                         add_predicate_logic,
                         add_integer_arithmetic,
                         add_integer_division,
                         add_packed_integer_arithmetic,
                         add_carry_arithmetic,
                         add_float_arithmetic,
                         add_rare_float_arithmetic,
                         add_half_arithmetic,
                         add_half_comparisons,
                         add_special_functions,
                         add_approximations,
                         add_logic,
                         add_bit_fields,
                         add_comparisons,
                         add_conversions,
                         add_narrow_conversions,
                         add_packing_conversions,
                         add_half_conversions,
                         add_shuffles,
                         add_votes,
                         add_reductions,
                         add_video}) {
    add(table);
  }
  return table;
}

const OpTable& operations() {
  static const OpTable table = make_table();
  return table;
}

bool is_pair(const ptx::Instruction& instruction) {
  return !instruction.operands.empty() && instruction.operands[0].kind == Operand::Kind::pair;
}

/// The key in the table: the mnemonic and, if forms differ by operands, the form.
std::string key_of(const ptx::Instruction& instruction) {
  std::string key = instruction.mnemonic();
  if (is_pair(instruction)) key += " p|q";
  const bool is_extreme = instruction.is(Opcode::min, Opcode::max);
  if (is_extreme && instruction.operands.size() == 4) key += " of 3";
  if (instruction.opcode != Opcode::mov || instruction.operands.size() != 2) return key;
  const Operand& to = instruction.operands[0];
  const Operand& from = instruction.operands[1];
  if (to.kind == Operand::Kind::vector) key += " unpack" + std::to_string(to.elements.size());
  if (from.kind == Operand::Kind::vector) key += " pack" + std::to_string(from.elements.size());
  return key;
}

std::vector<const Operand*> flattened(const ptx::Instruction& instruction) {
  std::vector<const Operand*> operands;
  for (const Operand& operand : instruction.operands) {
    if (operand.elements.empty()) operands.push_back(&operand);
    for (const Operand& element : operand.elements) operands.push_back(&element);
  }
  return operands;
}

/// Records negated predicates: bit i of imm is set if operand i, counting destinations, is negated.
void note_negations(const std::vector<const Operand*>& operands, OpSpec& spec) {
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (operands[i]->negated) spec.imm |= std::uint64_t{1} << i;
  }
}

}  // namespace

bool takes_negation(const ptx::Instruction& instruction) {
  return (instruction.has(ptx::Fact::predicate_logic) && instruction.has("pred")) ||
         instruction.opcode == Opcode::vote;
}

std::optional<OpSpec> arithmetic(const ptx::Instruction& instruction) {
  if (instruction.opcode == Opcode::unknown) return std::nullopt;
  if (instruction.is(Opcode::setp, Opcode::set)) return comparison(operations(), instruction);

  const OpSpec* found = operations().find(key_of(instruction));
  if (found == nullptr) return std::nullopt;
  OpSpec spec = *found;
  const std::vector<const Operand*> operands = flattened(instruction);
  if (operands.size() != spec.operands.size()) return spec;
  if (instruction.opcode == Opcode::lop3) spec.imm = operands.back()->bits;
  note_negations(operands, spec);
  return spec;
}

}  // namespace rung::vgpu
