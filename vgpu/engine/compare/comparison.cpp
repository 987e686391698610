// Looks up the handlers of setp and set: the comparison is in the table, and the combination
// follows from modifiers and operands (PTX ISA, 9.7.6).

#include <algorithm>

#include "vgpu/engine/compare/compare.hpp"
#include "vgpu/engine/lanes/op_table.hpp"
#include "vgpu/ptx/opcodes.hpp"

namespace rung::vgpu {

namespace {

using ptx::Operand;
using ptx::Type;

bool take(std::vector<std::string>& modifiers, std::string_view name) {
  return std::erase(modifiers, name) != 0;
}

/// Removes .and, .or or .xor from the modifiers. Returns false if there is more than one.
bool take_combination(std::vector<std::string>& modifiers, Combination& combination) {
  using With = Combination::With;
  const bool conjunction = take(modifiers, "and"), disjunction = take(modifiers, "or"),
             exclusion = take(modifiers, "xor");
  combination.used = conjunction || disjunction || exclusion;
  combination.with = conjunction   ? With::conjunction
                     : disjunction ? With::disjunction
                                   : With::exclusion;
  return conjunction + disjunction + exclusion <= 1;
}

/// The value that `set` writes if the comparison holds: all ones, or 1.0 of the type.
std::optional<std::uint32_t> truth(Type type) {
  switch (type) {
    case Type::u32:
    case Type::s32: return 0xFFFFFFFFu;
    case Type::u16:
    case Type::s16: return 0xFFFFu;
    case Type::f32: return 0x3F800000u;
    case Type::f16: return 0x3C00u;
    case Type::bf16: return 0x3F80u;
    default: return std::nullopt;
  }
}

}  // namespace

void Combination::write(Warp& warp, const Instr& instr, Mask holds) const {
  const Mask c = used ? warp.predicate(instr.row[static_cast<std::size_t>(sources()) + 2]) : 0;
  if (values) {
    write_values(warp, instr.row[0], apply(holds, c));
  } else {
    write_predicate(warp, instr.row[0], apply(holds, c));
    if (pair) write_predicate(warp, instr.row[1], apply(~holds, c));
  }
}

void Combination::write_values(Warp& warp, std::uint32_t row, Mask holds) const {
  for (Mask rest = warp.mask; rest != 0; rest &= rest - 1) {
    const int lane = first_lane(rest);
    const std::uint32_t value = ((holds >> lane) & 1) != 0 ? truth : 0;
    if (narrow) {
      warp.row<std::uint16_t>(row)[lane] = static_cast<std::uint16_t>(value);
    } else {
      warp.row<std::uint32_t>(row)[lane] = value;
    }
  }
}

std::optional<OpSpec> comparison(const OpTable& table, const ptx::Instruction& instruction) {
  ptx::Instruction plain;
  plain.opcode = instruction.opcode;
  plain.modifiers = instruction.modifiers;
  Combination combination;
  if (!take_combination(plain.modifiers, combination)) return std::nullopt;

  const auto& operands = instruction.operands;
  if (plain.modifiers.empty()) return std::nullopt;
  combination.negated = combination.used && !operands.empty() && operands.back().negated;

  Type result = Type::pred;
  if (plain.opcode == ptx::Opcode::set) {  // set.CMP{.ftz}.RESULT.TYPE
    if (plain.modifiers.size() < 3) return std::nullopt;
    const auto at = plain.modifiers.end() - 2;
    result = ptx::type_named(*at);
    if (!truth(result)) return std::nullopt;
    combination.values = true;
    combination.truth = *truth(result);
    combination.narrow = ptx::size_of(result) == 2;
    plain.modifiers.erase(at);
  } else {
    combination.pair = !operands.empty() && operands[0].kind == Operand::Kind::pair;
    // The two halves of packed pairs are compared separately, into p and q.
    if (plain.modifiers.back().ends_with("x2") && !combination.pair) return std::nullopt;
  }

  const OpSpec* found = table.find(plain.mnemonic());
  if (found == nullptr) return std::nullopt;
  OpSpec spec = *found;
  spec.operands[0] = result;
  if (combination.pair) spec.operands.insert(spec.operands.begin(), Type::pred);
  if (combination.used) spec.operands.push_back(Type::pred);
  spec.destinations = combination.pair ? 2 : 1;
  spec.imm = combination.imm();
  return spec;
}

}  // namespace rung::vgpu
