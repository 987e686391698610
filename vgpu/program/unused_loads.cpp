#include "vgpu/program/unused_loads.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "vgpu/program/operands.hpp"
#include "vgpu/ptx/opcodes.hpp"

namespace rung::vgpu {
namespace {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using Op = IndexValue::Op;

/// Where the function's registers are written and read.
struct Places {
  explicit Places(const ptx::Function& function)
      : definition(function.registers.size(), none), uses(function.registers.size()) {
    for (std::size_t i = 0; i < function.body.size(); ++i) {
      for_each_definition(function.body[i], [&](int reg) {
        int& at = definition[static_cast<std::size_t>(reg)];
        at = at == none && function.body[i].guard < 0 ? static_cast<int>(i) : several;
      });
      for_each_use(function.body[i], [&](int reg) {
        uses[static_cast<std::size_t>(reg)].push_back(static_cast<std::uint32_t>(i));
      });
    }
  }

  static constexpr int none = -1, several = -2;
  std::vector<int>
      definition;  // of a register, if exactly one instruction writes it, in all threads
  std::vector<std::vector<std::uint32_t>> uses;
};

/// Predicates as functions of the thread's index.
class Conditions {
 public:
  Conditions(const ptx::Function& function, const Places& places, std::vector<IndexValue>& values)
      : function_(function), places_(places), values_(values) {}

  /// The position of a register's value.
  int of(int reg) {
    const auto [found, is_new] = known_.try_emplace(reg, -1);
    if (!is_new) return found->second;
    constexpr int deepest = 64;  // instructions from the index to a predicate
    if (depth_ == deepest) return -1;
    ++depth_;
    const int definition = places_.definition[static_cast<std::size_t>(reg)];
    const int value =
        definition < 0 ? -1 : of(function_.body[static_cast<std::size_t>(definition)]);
    --depth_;
    return known_[reg] = value;  // a register of a cycle stays unknown
  }

  /// True if the value depends on the thread's index.
  bool depends(int at) const { return at >= 0 && values_[static_cast<std::size_t>(at)].depends; }

 private:
  int add(IndexValue value) {
    value.depends = value.op == Op::tid || depends(value.first) || depends(value.second);
    values_.push_back(value);
    return static_cast<int>(values_.size()) - 1;
  }
  int negated(int value) { return add({Op::negate, value, -1, 0}); }

  int of(const Operand& operand) {
    if (operand.kind == Operand::Kind::reg) {
      const int value = of(operand.reg);
      return operand.negated ? negated(value) : value;
    }
    if (operand.kind == Operand::Kind::immediate && !operand.is_float) {
      return add({Op::constant, -1, -1, static_cast<std::uint32_t>(operand.bits)});
    }
    for (std::uint32_t i = 0; operand.kind == Operand::Kind::special && i < 3; ++i) {
      if (operand.name == std::string("tid.") + "xyz"[i]) return add({Op::tid, -1, -1, i});
    }
    return -1;
  }

  int of_pair(Op op, const Instruction& instruction) {
    const int first = of(instruction.operands[1]);
    return add({op, first, of(instruction.operands[2]), 0});
  }

  int compare(const Instruction& instruction) {
    if (instruction.modifiers.size() != 2 || instruction.operands.size() != 3) return -1;
    const std::string_view how = instruction.modifiers[0];
    const bool is_signed = instruction.has("s32");
    const Op less = is_signed ? Op::less_signed : Op::less;
    const auto swapped = [&] {
      const int second = of(instruction.operands[2]);
      return add({less, second, of(instruction.operands[1]), 0});
    };
    if (how == "eq") return of_pair(Op::equal, instruction);
    if (how == "ne") return negated(of_pair(Op::equal, instruction));
    if (how == "lt" || how == "lo") return of_pair(less, instruction);
    if (how == "ge" || how == "hs") return negated(of_pair(less, instruction));
    if (how == "gt" || how == "hi") return swapped();
    if (how == "le" || how == "ls") return negated(swapped());
    return -1;
  }

  int of(const Instruction& instruction) {
    const bool is_predicate = instruction.has("pred");
    if (!is_predicate && !instruction.has("b32") && !instruction.has("u32") &&
        !instruction.has("s32")) {
      return -1;
    }
    const std::size_t count = instruction.operands.size();
    if (instruction.opcode == Opcode::setp) return compare(instruction);
    if (count == 2 && instruction.opcode == Opcode::mov) {
      const int value = of(instruction.operands[1]);
      return is_predicate && value >= 0
                 ? add({Op::bit_and, value, add({Op::constant, -1, -1, 1}), 0})
                 : value;
    }
    if (count == 2 && instruction.opcode == Opcode::not_ && is_predicate) {
      return negated(of(instruction.operands[1]));
    }
    if (count != 3 || instruction.has("hi") || instruction.has("wide")) return -1;
    switch (instruction.opcode) {
      case Opcode::and_: return of_pair(Op::bit_and, instruction);
      case Opcode::or_: return of_pair(Op::bit_or, instruction);
      case Opcode::xor_: return of_pair(Op::bit_xor, instruction);
      case Opcode::shl: return of_pair(Op::left, instruction);
      case Opcode::shr: return instruction.has("s32") ? -1 : of_pair(Op::right, instruction);
      case Opcode::add: return of_pair(Op::add, instruction);
      case Opcode::sub: return of_pair(Op::subtract, instruction);
      case Opcode::mul: return of_pair(Op::multiply, instruction);
      default: return -1;
    }
  }

  const ptx::Function& function_;
  const Places& places_;
  std::vector<IndexValue>& values_;
  std::map<int, int> known_;
  int depth_ = 0;
};

/// The guarded stores of data that a load's value reaches, or nullopt if it has another use.
std::optional<std::vector<std::uint32_t>> stores_of(const ptx::Function& function,
                                                    const Places& places, std::uint32_t load) {
  std::vector<std::uint32_t> stores;
  std::vector<int> pending;
  std::vector<bool> seen(function.registers.size(), false);
  const auto reach = [&](int reg) {
    if (seen[static_cast<std::size_t>(reg)]) return;
    seen[static_cast<std::size_t>(reg)] = true;
    pending.push_back(reg);
  };
  for_each_definition(function.body[load], reach);
  while (!pending.empty()) {
    const int reg = pending.back();
    pending.pop_back();
    for (const std::uint32_t use : places.uses[static_cast<std::size_t>(reg)]) {
      const Instruction& instruction = function.body[use];
      if (instruction.guard == reg) return std::nullopt;
      if (instruction.opcode == Opcode::st) {
        bool is_address = false;
        operands::for_each_register(instruction.operands[0],
                                    [&](int base) { is_address = is_address || base == reg; });
        if (is_address || instruction.guard < 0) return std::nullopt;
        stores.push_back(use);
      } else if (instruction.has(ptx::Fact::lane_wise) && has_destination(instruction) &&
                 !instruction.is_load()) {
        for_each_definition(instruction, reach);
      } else {
        return std::nullopt;
      }
    }
  }
  return stores;
}

}  // namespace

UnusedLoads unused_loads(const ptx::Function& function) {
  UnusedLoads found;
  const auto is_guarded_store = [](const Instruction& instruction) {
    return instruction.opcode == Opcode::st && instruction.guard >= 0;
  };
  if (std::ranges::none_of(function.body, is_guarded_store)) return found;
  const Places places(function);
  Conditions conditions(function, places, found.values);
  const auto depends = [&](std::uint32_t store) {
    return conditions.depends(conditions.of(function.body[store].guard));
  };
  for (std::uint32_t i = 0; i < function.body.size(); ++i) {
    if (function.body[i].opcode != Opcode::ld) continue;
    const auto stores = stores_of(function, places, i);
    if (!stores || stores->empty() || !std::ranges::all_of(*stores, depends)) continue;
    std::vector<GuardedStore>& of_load = found.stores[i];
    for (const std::uint32_t store : *stores) {
      of_load.push_back(
          {conditions.of(function.body[store].guard), function.body[store].guard_negated});
    }
  }
  return found;
}

}  // namespace rung::vgpu
