// Maps PTX instructions to operations of the translator (model/native_operation.hpp).

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "vgpu/lowering/passes.hpp"
#include "vgpu/ptx/opcodes.hpp"

namespace rung::vgpu {
namespace {

using ptx::Opcode;

std::optional<NativeType> type_named(std::string_view name) {
  if (name == "f32") return NativeType::f32;
  if (name == "f64") return NativeType::f64;
  if (name == "u32" || name == "b32") return NativeType::u32;
  if (name == "s32") return NativeType::s32;
  if (name == "u64" || name == "b64") return NativeType::u64;
  if (name == "s64") return NativeType::s64;
  return std::nullopt;
}

/// True if the only modifiers are the type and, optionally, `first` before it.
bool plain_before_type(const ptx::Instruction& instruction, std::string_view first) {
  const auto& modifiers = instruction.modifiers;
  return modifiers.size() == 1 || (modifiers.size() == 2 && modifiers[0] == first);
}

Native of_type(NativeOp op, std::optional<NativeType> type) {
  if (!type) return {};
  return {op, *type, *type};
}

/// neg and abs. Not for f64, which treats NaN differently.
Native sign(NativeOp op, const ptx::Instruction& instruction) {
  const auto type = type_named(instruction.modifiers.back());
  const bool plain = instruction.modifiers.size() == 1 && type != NativeType::f64;
  return plain ? of_type(op, type) : Native{};
}

/// add, sub, and, …: `op.type`, or `op.rn.type` for floating point.
Native elementwise(NativeOp op, const ptx::Instruction& instruction) {
  const auto type = type_named(instruction.modifiers.back());
  if (!type || !plain_before_type(instruction, "rn")) return {};
  return of_type(op, type);
}

Native minimum(NativeOp op, const ptx::Instruction& instruction) {
  const auto type = type_named(instruction.modifiers.back());
  if (!type || *type == NativeType::f64 || instruction.modifiers.size() != 1 ||
      instruction.operands.size() != 3) {
    return {};
  }
  return of_type(op, type);
}

/// mul and mad, with .lo or .wide for integers.
Native product(NativeOp low, NativeOp wide, const ptx::Instruction& instruction) {
  const auto type = type_named(instruction.modifiers.back());
  if (!type) return {};
  if (is_float(*type)) return elementwise(low, instruction);
  if (instruction.modifiers.size() != 2) return {};
  if (instruction.modifiers[0] == "lo") return of_type(low, type);
  if (instruction.modifiers[0] == "hi" && low == NativeOp::mul && bytes_of(*type) == 4) {
    return of_type(NativeOp::mul_high, type);
  }
  if (instruction.modifiers[0] != "wide" || bytes_of(*type) != 4) return {};
  const NativeType result = is_signed(*type) ? NativeType::s64 : NativeType::u64;
  return {wide, *type, result};
}

/// VRNDSCALEPS's mode for a rounding to an integer, with exceptions suppressed.
std::optional<std::uint8_t> rounding_mode(std::string_view name) {
  constexpr std::uint8_t silent = 8;
  constexpr std::array<std::string_view, 4> names = {"rni", "rmi", "rpi", "rzi"};
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<std::uint8_t>(silent | (found - names.begin()));
}

Native conversion(const ptx::Instruction& instruction) {
  const auto& modifiers = instruction.modifiers;
  if (modifiers.size() < 2) return {};
  const auto from = type_named(modifiers.back());
  const auto to = type_named(modifiers[modifiers.size() - 2]);
  if (!from || !to) return {};
  const std::string_view mode = modifiers.size() == 3 ? modifiers[0] : std::string_view();
  if (modifiers.size() > 3) return {};
  if (!is_float(*from) && !is_float(*to)) {
    return mode.empty() ? Native{NativeOp::resize, *from, *to} : Native{};
  }
  if (*to == NativeType::f32 && *from == NativeType::f32) {
    const auto rounding = rounding_mode(mode);
    return rounding ? Native{NativeOp::round, *from, *to, *rounding} : Native{};
  }
  const bool from_word = !is_float(*from) && bytes_of(*from) == 4;
  if (*to == NativeType::f32 && mode == "rn" && (from_word || *from == NativeType::f64)) {
    return {NativeOp::to_float, *from, *to};
  }
  if (*to == NativeType::f64 &&
      ((from_word && mode == "rn") || (*from == NativeType::f32 && mode.empty()))) {
    return {NativeOp::to_double, *from, *to};
  }
  if (*from == NativeType::f32 && !is_float(*to) && bytes_of(*to) == 4 && mode == "rzi") {
    return {NativeOp::truncate, *from, *to};
  }
  return {};
}

/// rcp, sqrt, rsqrt, div and ex2 of f32. An approximate rcp or sqrt is the rounded f64 result. f64
/// has more than twice the bits of f32, so that equals the exact operation's result.
Native root_or_quotient(NativeOp exact, NativeOp approximate, const ptx::Instruction& instruction) {
  const auto& modifiers = instruction.modifiers;
  if (modifiers.size() != 2 || modifiers[1] != "f32") return {};
  if (modifiers[0] == "rn") return of_type(exact, NativeType::f32);
  return modifiers[0] == "approx" ? of_type(approximate, NativeType::f32) : Native{};
}

// Predicates of VCMPPS and VPCMPD. Relations with a `u` are also true for NaN.
struct Relation {
  std::string_view name;
  std::uint8_t of_float, of_integer;
};
constexpr std::uint8_t no_relation = 0xFF;
constexpr std::array<Relation, 18> relations = {{
    {"eq", 0x00, 0},
    {"ne", 0x0C, 4},
    {"lt", 0x11, 1},
    {"le", 0x12, 2},
    {"gt", 0x1E, 6},
    {"ge", 0x1D, 5},
    {"lo", no_relation, 1},
    {"ls", no_relation, 2},
    {"hi", no_relation, 6},
    {"hs", no_relation, 5},
    {"equ", 0x08, no_relation},
    {"neu", 0x04, no_relation},
    {"ltu", 0x19, no_relation},
    {"leu", 0x1A, no_relation},
    {"gtu", 0x16, no_relation},
    {"geu", 0x15, no_relation},
    {"num", 0x07, no_relation},
    {"nan", 0x03, no_relation},
}};

Native comparison(const ptx::Instruction& instruction) {
  const auto& modifiers = instruction.modifiers;
  const bool combined = modifiers.size() == 3 &&
                        (modifiers[1] == "and" || modifiers[1] == "or" || modifiers[1] == "xor");
  if (modifiers.size() != 2 && !combined) return {};
  const auto type = type_named(modifiers.back());
  if (!type) return {};
  for (const Relation& relation : relations) {
    if (relation.name != modifiers[0]) continue;
    const std::uint8_t code = is_float(*type) ? relation.of_float : relation.of_integer;
    if (code == no_relation) return {};
    return {NativeOp::setp, *type, *type, code};
  }
  return {};
}

Native bitwise(NativeOp op, NativeOp of_predicates, const ptx::Instruction& instruction) {
  if (instruction.modifiers.size() != 1) return {};
  if (instruction.modifiers[0] == "pred") return {of_predicates};
  return of_type(op, type_named(instruction.modifiers[0]));
}

Native move(const ptx::Instruction& instruction) {
  if (instruction.operands.size() != 2 || instruction.modifiers.size() != 1) return {};
  for (const ptx::Operand& operand : instruction.operands) {
    if (operand.kind == ptx::Operand::Kind::vector || operand.name == "clock" ||
        operand.name == "clock64" || operand.name == "globaltimer") {
      return {};
    }
  }
  if (instruction.modifiers[0] == "pred") return {NativeOp::predicate_move};
  return of_type(NativeOp::move, type_named(instruction.modifiers[0]));
}

}  // namespace

Native native_operation(const ptx::Instruction& instruction) {
  if (instruction.modifiers.empty()) return {};
  using enum NativeOp;
  switch (instruction.opcode) {
#define RUNG_NATIVE_INSTRUCTION(opcode, rule, operation) \
  case Opcode::opcode: return rule(operation, instruction);
#include "vgpu/model/native_operations.def"
    case Opcode::mov: return vgpu::move(instruction);
    case Opcode::mul: return product(mul, mul_wide, instruction);
    case Opcode::mad: return product(mad, mad_wide, instruction);
    case Opcode::and_: return bitwise(and_, predicate_and, instruction);
    case Opcode::or_: return bitwise(or_, predicate_or, instruction);
    case Opcode::xor_: return bitwise(xor_, predicate_xor, instruction);
    case Opcode::not_: return bitwise(not_, predicate_not, instruction);
    case Opcode::lop3:
      return instruction.modifiers.size() == 1 && instruction.operands.size() == 5
                 ? of_type(lop3, NativeType::u32)
                 : Native{};
    case Opcode::cvt: return conversion(instruction);
    case Opcode::cvta:
      return instruction.has("u32") ? Native{} : of_type(add_offset, NativeType::u64);
    case Opcode::rcp: return root_or_quotient(rcp, rcp, instruction);
    case Opcode::sqrt: return root_or_quotient(sqrt, sqrt, instruction);
    case Opcode::rsqrt: return root_or_quotient(none, rsqrt, instruction);
    case Opcode::ex2: return root_or_quotient(none, exp2, instruction);
    case Opcode::div: return root_or_quotient(div, none, instruction);
    case Opcode::selp:
      return instruction.modifiers.size() == 1 ? of_type(selp, type_named(instruction.modifiers[0]))
                                               : Native{};
    case Opcode::setp: return comparison(instruction);
    default: return {};
  }
}

}  // namespace rung::vgpu
