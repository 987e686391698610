#include "vgpu/program/addresses.hpp"

#include <algorithm>
#include <string>

#include "vgpu/program/operands.hpp"
#include "vgpu/ptx/opcodes.hpp"

namespace rung::vgpu {
namespace {

using ptx::Instruction;
using ptx::Operand;

constexpr std::size_t max_terms = 4;
constexpr int deepest = 8;  // maximum length of a chain of definitions

bool is_integer_sum(const Instruction& instruction) {
  if (!instruction.is(ptx::Opcode::add, ptx::Opcode::sub)) return false;
  if (instruction.modifiers.size() != 1) return false;  // .cc, .sat
  const ptx::Type type = ptx::type_named(instruction.modifiers[0]);
  return !ptx::is_float(type) && ptx::size_of(type) >= 4;
}

bool is_copy(const Instruction& instruction) {
  return instruction.opcode == ptx::Opcode::mov ||
         (instruction.opcode == ptx::Opcode::cvta && instruction.has("to"));
}

}  // namespace

Addresses::Addresses(const ptx::Function& function, SharedOffset shared_offset)
    : function_(function),
      shared_offset_(std::move(shared_offset)),
      definitions_(function.registers.size()),
      low_bits_(low_bits(function, shared_offset_)) {
  for (std::size_t i = 0; i < function.body.size(); ++i) {
    for_each_definition(function.body[i],
                        [&](int reg) { definitions_[static_cast<std::size_t>(reg)].push_back(i); });
  }
}

/// True if the register is written only once. Compilers write every register once, except those of
/// loops.
bool Addresses::keeps_its_value(int reg) const {
  const auto& definitions = definitions_[static_cast<std::size_t>(reg)];
  return definitions.size() == 1 && function_.body[definitions[0]].guard < 0;
}

Addresses::Sum Addresses::sum_of(int reg, View view) const {
  const auto& definitions = definitions_[static_cast<std::size_t>(reg)];
  const auto in_block = std::lower_bound(definitions.begin(), definitions.end(), view.first);
  const auto behind = std::lower_bound(in_block, definitions.end(), view.at);
  std::optional<Sum> sum;
  if (behind != in_block) {
    sum = definition(*(behind - 1), view);
  } else if (keeps_its_value(reg) && definitions[0] < view.at) {
    sum = definition(definitions[0], view);
  }
  return sum ? *std::move(sum) : Sum{{{reg, static_cast<int>(behind - in_block)}}, 0};
}

/// The value of an operand as a sum. nullopt if it is not a register, constant or shared array, or
/// if it may have changed since a definition outside the block.
std::optional<Addresses::Sum> Addresses::sum_of(const Operand& operand, View view) const {
  if (operand.negated) return std::nullopt;
  if (operand.kind == Operand::Kind::immediate && !operand.is_float) {
    return Sum{{}, static_cast<std::int64_t>(operand.bits)};
  }
  if (operand.kind == Operand::Kind::symbol) {
    const auto offset = shared_offset_(operand.name);
    if (!offset) return std::nullopt;
    return Sum{{}, static_cast<std::int64_t>(*offset) + operand.offset};
  }
  if (operand.kind != Operand::Kind::reg) return std::nullopt;
  if (view.at < view.first && !keeps_its_value(operand.reg)) return std::nullopt;
  return sum_of(operand.reg, view);
}

/// The result of instruction `at`, if it is a sum.
std::optional<Addresses::Sum> Addresses::definition(std::size_t at, View view) const {
  const Instruction& instruction = function_.body[at];
  if (view.depth == 0 || instruction.guard >= 0) return std::nullopt;
  const View before = {at, view.first, view.depth - 1};
  const auto& operands = instruction.operands;
  if (is_copy(instruction) && operands.size() == 2) return sum_of(operands[1], before);
  if (!is_integer_sum(instruction) || operands.size() != 3) return std::nullopt;
  auto sum = sum_of(operands[1], before);
  const auto other = sum_of(operands[2], before);
  if (!sum || !other) return std::nullopt;
  if (instruction.opcode == ptx::Opcode::sub) {
    if (!other->terms.empty()) return std::nullopt;
    sum->constant -= other->constant;
    return sum;
  }
  sum->terms.insert(sum->terms.end(), other->terms.begin(), other->terms.end());
  sum->constant += other->constant;
  std::sort(sum->terms.begin(), sum->terms.end());
  return sum->terms.size() <= max_terms ? sum : std::nullopt;
}

LinearAddress Addresses::of(const Operand& operand, std::size_t at, std::size_t first) const {
  LinearAddress address;
  address.constant = operand.offset;
  if (operand.reg < 0) {
    const auto offset = operand.name.empty() ? 0 : shared_offset_(operand.name);
    address.constant += static_cast<std::int64_t>(offset.value_or(0));
    if (offset) address.low.count = 32;  // no terms: the sum is 0
    return address;
  }
  const Sum sum = sum_of(operand.reg, View{at, first, deepest});
  address.terms = sum.terms;
  address.constant += sum.constant;
  const LowBits base = low_bits_[static_cast<std::size_t>(operand.reg)];
  const std::uint64_t mask = (std::uint64_t{1} << base.count) - 1;
  address.low = {base.count, (base.value - static_cast<std::uint64_t>(sum.constant)) & mask};
  return address;
}

}  // namespace rung::vgpu
