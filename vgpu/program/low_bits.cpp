#include "vgpu/program/low_bits.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <string>

#include "vgpu/program/operands.hpp"
#include "vgpu/ptx/opcodes.hpp"

namespace rung::vgpu {
namespace {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;

constexpr int enough = 32;  // more bits are never needed

LowBits cut(int count, std::uint64_t value) {
  const int kept = std::clamp(count, 0, enough);
  return {kept, value & ((std::uint64_t{1} << kept) - 1)};
}

LowBits exactly(std::uint64_t value) { return cut(enough, value); }

/// The low bits on which both agree.
LowBits either(LowBits a, LowBits b) {
  const int common = std::min(a.count, b.count);
  return cut(std::min(common, std::countr_zero(a.value ^ b.value)), a.value);
}

LowBits sum(LowBits a, LowBits b) { return cut(std::min(a.count, b.count), a.value + b.value); }
LowBits negative(LowBits a) { return cut(a.count, ~a.value + 1); }

/// If a = v + 2^c x, and likewise b, every term of the product but the first has unknown factors.
LowBits product(LowBits a, LowBits b) {
  const auto unknown_from = [](std::uint64_t known, int count) {
    return known == 0 ? enough : std::countr_zero(known) + count;
  };
  const int count =
      std::min({unknown_from(a.value, b.count), unknown_from(b.value, a.count), a.count + b.count});
  return cut(count, a.value * b.value);
}

std::optional<bool> bit_of(LowBits bits, int index) {
  if (index >= bits.count) return std::nullopt;
  return ((bits.value >> index) & 1) != 0;
}

/// One bit of and, or, xor. Known if both bits are known, or if one determines the result, such as
/// a 0 for `and`.
std::optional<bool> combined(Opcode opcode, std::optional<bool> a, std::optional<bool> b) {
  const bool decides = opcode == Opcode::or_;
  if (opcode != Opcode::xor_ && (a == decides || b == decides)) return decides;
  if (!a || !b) return std::nullopt;
  return opcode == Opcode::xor_ ? *a != *b : !decides;
}

LowBits bitwise(Opcode opcode, LowBits a, LowBits b) {
  LowBits result;
  for (; result.count < enough; ++result.count) {
    const auto bit = combined(opcode, bit_of(a, result.count), bit_of(b, result.count));
    if (!bit) break;
    result.value |= std::uint64_t{*bit} << result.count;
  }
  return result;
}

class Solver {
 public:
  Solver(const ptx::Function& function, const SharedOffset& shared_offset)
      : shared_offset_(shared_offset), known_(function.registers.size()) {}

  /// Makes one pass over the text. Returns true if anything changed.
  bool pass(const ptx::Function& function) {
    changed_ = false;
    for (const Instruction& instruction : function.body) {
      const std::optional<LowBits> result = value_of(instruction);
      if (!result) continue;
      for_each_definition(instruction, [&](int reg) { join(reg, *result); });
    }
    return changed_;
  }

  std::vector<LowBits> result() const {
    std::vector<LowBits> bits;
    for (const auto& known : known_) bits.push_back(known.value_or(LowBits{}));
    return bits;
  }

 private:
  void join(int reg, LowBits bits) {
    auto& known = known_[static_cast<std::size_t>(reg)];
    const LowBits joined = known ? either(*known, bits) : bits;
    changed_ |= !known || *known != joined;
    known = joined;
  }

  /// The low bits of an operand; nullopt if it has no value yet.
  std::optional<LowBits> operand(const Instruction& instruction, std::size_t index) const {
    if (index >= instruction.operands.size()) return LowBits{};
    const Operand& of = instruction.operands[index];
    if (of.negated) return LowBits{};
    switch (of.kind) {
      case Operand::Kind::reg: return known_[static_cast<std::size_t>(of.reg)];
      case Operand::Kind::immediate: return of.is_float ? LowBits{} : exactly(of.bits);
      case Operand::Kind::symbol:
        if (const auto offset = shared_offset_(of.name)) {
          return exactly(*offset + static_cast<std::uint64_t>(of.offset));
        }
        return LowBits{};
      default: return LowBits{};
    }
  }

  std::optional<LowBits> value_of(const Instruction& instruction) const;

  const SharedOffset& shared_offset_;
  std::vector<std::optional<LowBits>> known_;
  bool changed_ = false;
};

/// True if the low bits of the result depend only on those of the operands.
bool is_followed(Opcode opcode) {
  switch (opcode) {
    case Opcode::mov:
    case Opcode::cvta:
    case Opcode::cvt:
    case Opcode::neg:
    case Opcode::add:
    case Opcode::sub:
    case Opcode::mul:
    case Opcode::mad:
    case Opcode::shl:
    case Opcode::shr:
    case Opcode::and_:
    case Opcode::or_:
    case Opcode::xor_:
    case Opcode::selp:
    case Opcode::min:
    case Opcode::max: return true;
    default: return false;
  }
}

bool computes_in_float(const Instruction& instruction) {
  return std::any_of(instruction.modifiers.begin(), instruction.modifiers.end(),
                     [](const std::string& word) { return ptx::is_float(ptx::type_named(word)); });
}

/// The low bits of a value shifted by a known amount.
LowBits shifted(Opcode opcode, LowBits value, LowBits amount) {
  if (amount.count < enough || amount.value >= enough) return LowBits{};
  const int by = static_cast<int>(amount.value);
  return opcode == Opcode::shl ? cut(value.count + by, value.value << by)
                               : cut(value.count - by, value.value >> by);
}

std::optional<LowBits> Solver::value_of(const Instruction& instruction) const {
  if (computes_in_float(instruction) || !is_followed(instruction.opcode)) return LowBits{};
  const auto a = operand(instruction, 1);
  if (!a || instruction.is(Opcode::mov, Opcode::cvta, Opcode::cvt)) return a;
  if (instruction.opcode == Opcode::neg) return negative(*a);
  const auto b = operand(instruction, 2);
  if (!b) return std::nullopt;
  switch (instruction.opcode) {
    case Opcode::add: return sum(*a, *b);
    case Opcode::sub: return sum(*a, negative(*b));
    case Opcode::selp:
    case Opcode::min:
    case Opcode::max: return either(*a, *b);
    case Opcode::and_:
    case Opcode::or_:
    case Opcode::xor_: return bitwise(instruction.opcode, *a, *b);
    case Opcode::shl:
    case Opcode::shr: return shifted(instruction.opcode, *a, *b);
    default: break;  // mul, mad
  }
  if (instruction.has("hi")) return LowBits{};
  const LowBits times = product(*a, *b);
  if (instruction.opcode == Opcode::mul) return times;
  const auto c = operand(instruction, 3);
  return c ? std::optional(sum(times, *c)) : std::nullopt;
}

}  // namespace

std::vector<LowBits> low_bits(const ptx::Function& function, const SharedOffset& shared_offset) {
  // Starting from "no value yet", every pass can only remove known bits, so the loop terminates.
  Solver solver(function, shared_offset);
  while (solver.pass(function)) {
  }
  return solver.result();
}

}  // namespace rung::vgpu
