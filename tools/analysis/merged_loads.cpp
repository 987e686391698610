#include "tools/analysis/merged_loads.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "vgpu/program/cfg.hpp"
#include "vgpu/ptx/opcodes.hpp"

namespace rung::analysis {
namespace {

using vgpu::ptx::Function;
using vgpu::ptx::Instruction;
using vgpu::ptx::Module;
using vgpu::ptx::Opcode;
using vgpu::ptx::Operand;

constexpr std::int64_t widest = 16;  // bytes

/// The largest power of two, up to 16, that is known to divide a register's value.
class Alignment {
 public:
  Alignment(const Module& text, const Function& function) : text_(text), function_(function) {
    for (const Instruction& instruction : function.body) {
      if (instruction.operands.empty() || instruction.is(Opcode::st, Opcode::bra)) continue;
      const int result = instruction.operands.front().reg;
      if (result >= 0) definitions_[result].push_back(&instruction);
    }
  }

  std::int64_t of(const Operand& operand) {
    switch (operand.kind) {
      case Operand::Kind::immediate: return of_number(static_cast<std::int64_t>(operand.bits));
      case Operand::Kind::symbol: return of_symbol(operand);
      case Operand::Kind::address:
        return operand.reg >= 0 ? of_register(operand.reg) : of_symbol(operand);
      case Operand::Kind::reg: return of_register(operand.reg);
      default: return 1;
    }
  }

 private:
  static std::int64_t of_number(std::int64_t value) {
    if (value == 0) return widest;
    return std::min(widest, std::int64_t{1} << std::countr_zero(static_cast<std::uint64_t>(value)));
  }

  /// ptxas chooses the addresses of shared arrays itself.
  std::int64_t of_symbol(const Operand& symbol) const {
    for (const auto* variables : {&function_.variables, &text_.variables}) {
      for (const vgpu::ptx::Variable& variable : *variables) {
        if (variable.name != symbol.name) continue;
        const bool placed = variable.space == vgpu::ptx::Space::shared && !variable.external;
        return placed ? widest : std::min<std::int64_t>(widest, variable.align);
      }
    }
    return 1;
  }

  /// In a loop, the alignment is determined by the increments of the register.
  std::int64_t of_register(int reg) {
    const auto known = known_.find(reg);
    if (known != known_.end()) return known->second;
    known_[reg] = widest;
    std::int64_t least = widest;
    for (const Instruction* definition : definitions_[reg]) {
      least = std::min(least, of_result(*definition));
    }
    return known_[reg] = definitions_[reg].empty() ? 1 : least;
  }

  std::int64_t of_result(const Instruction& instruction) {
    const auto operand = [&](std::size_t i) {
      return i < instruction.operands.size() ? of(instruction.operands[i]) : 1;
    };
    if (instruction.is(Opcode::mov, Opcode::cvt, Opcode::cvta)) return operand(1);
    if (instruction.is(Opcode::add, Opcode::sub, Opcode::or_, Opcode::xor_)) {
      return std::min(operand(1), operand(2));
    }
    if (instruction.opcode == Opcode::and_) return std::max(operand(1), operand(2));
    if (instruction.opcode == Opcode::mul) return std::min(widest, operand(1) * operand(2));
    if (instruction.opcode == Opcode::mad) {
      return std::min({widest, operand(1) * operand(2), operand(3)});
    }
    if (instruction.opcode == Opcode::shl && instruction.operands.size() > 2 &&
        instruction.operands[2].kind == Operand::Kind::immediate) {
      return std::min(widest, operand(1)
                                  << std::min<std::uint64_t>(4, instruction.operands[2].bits));
    }
    return 1;
  }

  const Module& text_;
  const Function& function_;
  std::map<int, std::vector<const Instruction*>> definitions_;
  std::map<int, std::int64_t> known_;
};

/// A load of one word that is not merged yet.
struct Word {
  std::int64_t offset;
  int line;
};

bool loads_word(const Instruction& instruction) {
  const bool word = instruction.has("f32") || instruction.has("u32") || instruction.has("b32") ||
                    instruction.has("s32");
  return instruction.opcode == Opcode::ld && instruction.has("shared") && word &&
         !instruction.has("volatile") && !instruction.has("v2") && !instruction.has("v4") &&
         instruction.operands.size() == 2 && instruction.guard < 0;
}

/// True for instructions across which loads are not reordered.
bool orders_shared(const Instruction& instruction) {
  return instruction.is(Opcode::st, Opcode::atom, Opcode::red, Opcode::bar, Opcode::barrier);
}

void merge(std::vector<Word>& words, std::int64_t alignment, std::map<int, int>& merged) {
  std::ranges::sort(words, {}, &Word::offset);
  for (std::size_t i = 0; i < words.size();) {
    std::size_t count = 1;
    for (const std::size_t wanted : {4, 2}) {
      const auto bytes = static_cast<std::int64_t>(4 * wanted);
      if (alignment < bytes || words[i].offset % bytes != 0 || i + wanted > words.size()) continue;
      // Equal offsets are rare: compilers load a word only once.
      if (words[i + wanted - 1].offset != words[i].offset + bytes - 4) continue;
      count = wanted;
      break;
    }
    for (std::size_t j = i; count > 1 && j < i + count; ++j) {
      merged[words[j].line] = static_cast<int>(count);
    }
    i += count;
  }
  words.clear();
}

}  // namespace

std::map<int, int> merged_shared_loads(const Module& text, const Function& function) {
  std::map<int, int> merged;
  Alignment alignment(text, function);
  for (const vgpu::CfgBlock& block : vgpu::control_flow(function).blocks) {
    std::map<std::pair<int, std::string>, std::vector<Word>> pending;  // by base
    const auto merge_all = [&] {
      for (auto& [base, words] : pending) {
        Operand address;
        address.kind = Operand::Kind::address;
        address.reg = base.first;
        address.name = base.second;
        merge(words, alignment.of(address), merged);
      }
    };
    for (std::size_t i = block.first; i < block.first + block.count; ++i) {
      const Instruction& instruction = function.body[i];
      if (orders_shared(instruction)) merge_all();
      if (!loads_word(instruction)) continue;
      const Operand& address = instruction.operands[1];
      pending[{address.reg, address.name}].push_back({address.offset, instruction.line});
    }
    merge_all();
  }
  return merged;
}

}  // namespace rung::analysis
