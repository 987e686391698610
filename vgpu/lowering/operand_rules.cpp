#include "vgpu/lowering/operand_rules.hpp"

#include <algorithm>
#include <limits>
#include <string_view>

#include "vgpu/engine/arithmetic/arithmetic.hpp"
#include "vgpu/engine/control/cluster_ops.hpp"
#include "vgpu/engine/control/control.hpp"
#include "vgpu/engine/matrix/matrix.hpp"
#include "vgpu/engine/matrix/narrow_multiply.hpp"
#include "vgpu/engine/matrix/sparse_multiply.hpp"
#include "vgpu/engine/matrix/wmma_layout.hpp"
#include "vgpu/lowering/matrix_move_form.hpp"
#include "vgpu/lowering/tcgen05_form.hpp"
#include "vgpu/lowering/wgmma_form.hpp"
#include "vgpu/ptx/opcodes.hpp"

namespace rung::vgpu {
namespace {

using ptx::Fact;
using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;
using Kind = OperandRule::Kind;
using Rules = std::vector<OperandRule>;

constexpr std::int64_t max_groups = std::numeric_limits<std::int32_t>::max();

OperandRule rule(Kind kind, Type type = Type::none) {
  OperandRule result;
  result.kind = kind;
  result.type = type;
  return result;
}
OperandRule source(Type type) { return rule(Kind::source, type); }
OperandRule destination(Type type) { return rule(Kind::destination, type); }
OperandRule address() { return rule(Kind::address); }
OperandRule constant(std::int64_t least, std::int64_t most) {
  OperandRule result = rule(Kind::constant);
  result.least = least;
  result.most = most;
  return result;
}
OperandRule several(OperandRule one, int elements) {
  one.elements = elements;
  return one;
}
OperandRule fragment(OperandRule one, int registers) {
  one.is_fragment = true;
  return several(one, registers);
}

OperandRules exactly(Rules rules) {
  const std::size_t required = rules.size();
  return {std::move(rules), required};
}

/// Rules with `optional` operands after the required ones.
OperandRules with_optional(Rules rules, Rules optional) {
  const std::size_t required = rules.size();
  rules.insert(rules.end(), optional.begin(), optional.end());
  return {std::move(rules), required};
}

/// The type of the elements that an access moves; `none` unless there is exactly one.
Type element_type(const Instruction& instruction) {
  Type found = Type::none;
  for (const std::string& modifier : instruction.modifiers) {
    const Type type = ptx::type_named(modifier);
    if (type == Type::none) continue;
    if (found != Type::none) return Type::none;
    found = type;
  }
  const int bytes = ptx::size_of(found);
  return bytes >= 1 && bytes <= 16 ? found : Type::none;
}

/// The number in .v2, .v4 or .v8, or 1 without. 0 if there are several.
int vector_length(const Instruction& instruction) {
  int length = 1;
  for (const std::string& modifier : instruction.modifiers) {
    const bool is_length = modifier == "v2" || modifier == "v4" || modifier == "v8";
    if (is_length) length = length == 1 ? modifier[1] - '0' : 0;
  }
  return length;
}

/// True if at most one state space is named.
bool has_one_space(const Instruction& instruction) {
  int spaces = 0;
  for (const std::string_view modifier : instruction.modifiers) {
    const std::string_view space = modifier.substr(0, modifier.find(':'));
    for (const char* const known : {"global", "shared", "local", "const", "param"}) {
      if (space == known) ++spaces;
    }
  }
  return spaces <= 1;
}

/// Adds the operand of a cache hint. The hint has no effect here.
void add_cache_hint(const Instruction& instruction, Rules& rules) {
  if (instruction.has("L2::cache_hint")) rules.push_back(source(Type::b64));
}

std::optional<OperandRules> load_or_store(const Instruction& instruction) {
  constexpr int max_bytes = 32;
  const Type type = element_type(instruction);
  const int length = vector_length(instruction);
  if (type == Type::b128 && (length != 1 || instruction.opcode != Opcode::ld)) return std::nullopt;
  if (type == Type::none || length == 0 || length * ptx::size_of(type) > max_bytes ||
      !has_one_space(instruction)) {
    return std::nullopt;
  }
  const bool stores = instruction.opcode == Opcode::st;
  OperandRule value = several(stores ? source(type) : destination(type), length);
  value.may_be_wider = true;
  Rules rules = {address(), address()};
  rules[stores ? 1 : 0] = value;
  add_cache_hint(instruction, rules);
  return exactly(std::move(rules));
}

std::optional<OperandRules> atomic(const Instruction& instruction) {
  const Type type = element_type(instruction);
  if (type == Type::none || type == Type::b128 || vector_length(instruction) != 1 ||
      !has_one_space(instruction)) {
    return std::nullopt;
  }
  Rules rules;
  if (instruction.opcode == Opcode::atom) rules.push_back(destination(type));
  rules.push_back(address());
  rules.push_back(source(type));
  if (instruction.has("cas")) rules.push_back(source(type));
  add_cache_hint(instruction, rules);
  return exactly(std::move(rules));
}

OperandRules matrix_move(bool loads, Type type, int registers, bool has_stride) {
  Rules rules = {fragment(rule(loads ? Kind::destination : Kind::reg, type), registers), address()};
  if (!loads) std::swap(rules[0], rules[1]);
  return has_stride ? with_optional(std::move(rules), {source(Type::u32)})
                    : exactly(std::move(rules));
}

std::optional<OperandRules> matrix_memory(const Instruction& instruction) {
  const auto form = matrix_move_form(instruction);
  if (!form) return std::nullopt;
  return matrix_move(form->loads, Type::b32, form->groups, false);
}

std::optional<OperandRules> wmma_memory(const Instruction& instruction) {
  const auto layout = wmma_layout(instruction);
  if (!layout) return std::nullopt;
  const Type type = layout->element == MatrixElement::f64 ? Type::b64 : Type::b32;
  return matrix_move(!instruction.has("store"), type, layout->registers, true);
}

OperandRules async_copy(const Instruction& instruction) {
  if (instruction.has("mbarrier")) return exactly({address()});
  if (instruction.has("wait_group")) return exactly({constant(0, max_groups)});
  if (instruction.has("commit_group") || instruction.has("wait_all")) return exactly({});
  // .cg copies 16 bytes, .ca copies 4, 8 or 16. The lowering rejects other sizes.
  Rules required = {address(), address(), constant(instruction.has("cg") ? 16 : 4, 16)};
  Rules optional = {source(Type::u32)};
  if (!instruction.has("L2::cache_hint")) return with_optional(std::move(required), optional);
  required.push_back(source(Type::none));  // bytes to read or, if last, the cache hint
  return with_optional(std::move(required), {source(Type::b64)});
}

/// The number in .1d to .5d, or 0 without.
int dimensions(const Instruction& instruction) {
  for (const std::string& modifier : instruction.modifiers) {
    if (modifier.size() == 2 && modifier[1] == 'd' && modifier[0] >= '1' && modifier[0] <= '5') {
      return modifier[0] - '0';
    }
  }
  return 0;
}

/// Offsets of a copy of pixels: one for each dimension but channels and images, or wHalo and wOffset (PTX ISA,
/// 9.7.9.25.5.2, "im2colInfo").
int im2col_offsets(const Instruction& instruction) {
  if (instruction.has("im2col::w") || instruction.has("im2col::w::128")) return 2;
  return instruction.has("im2col") ? std::max(dimensions(instruction) - 2, 0) : 0;
}

std::optional<OperandRules> bulk_copy(const Instruction& instruction) {
  if (instruction.has("commit_group")) return exactly({});
  if (instruction.has("wait_group")) return exactly({constant(0, max_groups)});
  const bool is_tensor = instruction.has("tensor");
  OperandRule global = rule(is_tensor ? Kind::tensor : Kind::address);
  if (is_tensor) global = several(global, dimensions(instruction));
  constexpr int coordinates_of_rows = 5;  // the first column, and four rows
  if (instruction.has("tile::gather4") || instruction.has("tile::scatter4")) {
    global.elements = coordinates_of_rows;
  }
  if (is_tensor && global.elements == 0) return std::nullopt;
  const Rules size(is_tensor ? 0 : 1, source(Type::u32));
  Rules rules;
  if (instruction.has("prefetch")) {
    rules = {global};
    rules.insert(rules.end(), size.begin(), size.end());
    if (const int offsets = im2col_offsets(instruction); offsets != 0) {
      rules.push_back(several(source(Type::u16), offsets));
    }
  } else {
    const auto first = std::find_if(
        instruction.modifiers.begin(), instruction.modifiers.end(),
        [](const std::string& it) { return it == "global" || it.starts_with("shared"); });
    const bool stores = first != instruction.modifiers.end() && *first == "global";
    rules = stores ? Rules{global, address()} : Rules{address(), global};
    rules.insert(rules.end(), size.begin(), size.end());
    if (!stores) rules.push_back(address());  // the mbarrier
    if (const int offsets = im2col_offsets(instruction); offsets != 0) {
      rules.push_back(several(source(Type::u16), offsets));
    }
    if (instruction.has("multicast::cluster")) rules.push_back(source(Type::u16));
  }
  add_cache_hint(instruction, rules);
  return exactly(std::move(rules));
}

std::optional<OperandRules> mbarrier(const Instruction& instruction) {
  const auto is = [&](std::string_view modifier) { return instruction.has(modifier); };
  if (is("inval")) return exactly({address()});
  if (is("test_wait") || is("try_wait")) {
    return with_optional(
        {destination(Type::pred), address(), source(is("parity") ? Type::u32 : Type::b64)},
        {source(Type::u32)});  // time limit, ignored here
  }
  if (is("arrive") || is("arrive_drop")) {
    Rules rules = {destination(Type::b64), address()};
    if (!is("expect_tx")) return with_optional(std::move(rules), {source(Type::u32)});
    rules.push_back(source(Type::u32));
    return exactly(std::move(rules));
  }
  if (is("init") || is("expect_tx") || is("complete_tx")) {
    return exactly({address(), source(Type::u32)});
  }
  return std::nullopt;
}

std::optional<OperandRules> wgmma(const Instruction& instruction) {
  if (instruction.has("fence") || instruction.has("commit_group")) return exactly({});
  if (instruction.has("wait_group")) return exactly({constant(0, max_groups)});
  const auto form = wgmma_form(instruction);
  if (!instruction.has("mma_async") || !form || instruction.operands.size() < 2) {
    return std::nullopt;
  }
  const bool a_in_registers = instruction.operands[1].kind == Operand::Kind::vector;
  const int per_register = form->d == MatrixElement::f16 ? 2 : 1;
  OperandRule a = fragment(rule(Kind::reg, Type::b32), 4);
  if (!a_in_registers) a = source(Type::b64);
  Rules rules = {fragment(rule(Kind::reg, Type::b32), form->n * 16 / 32 / per_register), a,
                 source(Type::b64), source(Type::pred)};
  if (form->d == MatrixElement::s32) return exactly(std::move(rules));
  rules.insert(rules.end(), 2, constant(-1, 1));  // signs of A and B
  if (element_bits(form->a) == 16) {
    rules.insert(rules.end(), a_in_registers ? 1 : 2, constant(0, 1));  // transpose flags
  }
  return exactly(std::move(rules));
}

/// Metadata of a sparse A follow C, then the scales of A and of B, each with the position of its byte and of its thread.
OperandRules narrow_multiply(const NarrowMultiplyOp& form) {
  const OperandRule word = rule(Kind::reg, Type::b32), position = several(source(Type::u16), 2);
  OperandRule d = fragment(destination(Type::b32), form.sum_registers());
  Rules rules = {d, fragment(word, NarrowMultiplyOp::a_registers),
                 fragment(word, form.b_registers()),
                 fragment(source(Type::b32), form.sum_registers())};
  if (form.sparse) {
    rules.push_back(fragment(source(Type::b32), 1));  // metadata
    rules.push_back(constant(0, 0));                  // which threads have them: all
  }
  for (int i = 0; form.scales_of_k != 0 && i < 2; ++i) {
    rules.push_back(fragment(source(Type::b32), 1));
    rules.push_back(position);
  }
  return exactly(std::move(rules));
}

OperandRules sparse_multiply(const SparseMultiplyOp& form) {
  const OperandRule word = rule(Kind::reg, Type::b32);
  return exactly({fragment(destination(Type::b32), form.sum_registers()),
                  fragment(word, form.a_registers()), fragment(word, form.b_registers()),
                  fragment(source(Type::b32), form.sum_registers()),
                  source(Type::b32),                    // metadata
                  constant(0, form.selectors() - 1)});  // which threads have them
}

std::optional<OperandRules> copy(const Instruction& instruction) {
  if (instruction.has("bulk")) return bulk_copy(instruction);
  return instruction.has("async") ? std::optional(async_copy(instruction)) : std::nullopt;
}

/// clusterlaunchcontrol (PTX ISA, 9.7.13.17 and .18).
std::optional<OperandRules> launch_control(const Instruction& instruction) {
  if (instruction.has("try_cancel")) return exactly({address(), address()});
  if (!instruction.has("query_cancel")) return std::nullopt;
  const OperandRule response = source(Type::b128);
  if (instruction.has("is_canceled")) return exactly({destination(Type::pred), response});
  const int results = instruction.has("v4") ? 4 : 1;
  return exactly({several(destination(Type::b32), results), response});
}

/// mov.b128 packs and unpacks two words of 64 bits (PTX ISA, 9.7.9.4).
OperandRules wide_move(const Instruction& instruction) {
  const auto rule_of = [&](std::size_t operand, OperandRule whole, OperandRule half) {
    const bool is_vector = operand < instruction.operands.size() &&
                           instruction.operands[operand].kind == Operand::Kind::vector;
    return is_vector ? several(half, 2) : whole;
  };
  return exactly({rule_of(0, destination(Type::b128), destination(Type::b64)),
                  rule_of(1, source(Type::b128), source(Type::b64))});
}

OperandRules create_policy(const Instruction& instruction) {
  const OperandRule any = source(Type::none);
  const OperandRule place = instruction.has("range") ? address() : any;
  return with_optional({destination(Type::b64)}, {place, any, any});
}

/// Number of operands in each group; groups of several are in braces.
std::vector<int> groups_of(const Instruction& instruction, const OpSpec& spec) {
  const auto total = static_cast<int>(spec.operands.size());
  const auto& operands = instruction.operands;
  const bool is_matrix = instruction.is(Opcode::mma, Opcode::wmma);
  if (const auto form = is_matrix ? matrix_form(instruction) : std::nullopt) {
    return {form->sum_registers(form->d), form->a_registers(), form->b_registers(),
            form->sum_registers(form->c)};
  }
  if (is_matrix) return {2, (total - 4) / 2, (total - 4) / 2, 2};  // a simdgroup matrix, for Metal
  if (instruction.opcode == Opcode::mov && operands.size() == 2) {
    if (operands[0].kind == Operand::Kind::vector) return {total - 1, 1};
    if (operands[1].kind == Operand::Kind::vector) return {1, total - 1};
  }
  return std::vector<int>(static_cast<std::size_t>(total), 1);
}

bool may_be_negated(const Instruction& instruction, std::size_t rule, const Rules& rules) {
  const bool is_last = rule + 1 == rules.size() && rules[rule].type == Type::pred;
  if (instruction.has(Fact::combines_predicate)) return is_last;
  return rules[rule].type == Type::pred && takes_negation(instruction);
}

/// Derives the rules from the operand types of an instruction's handler.
OperandRules rules_of(const Instruction& instruction, OpSpec spec) {
  auto& types = spec.operands;
  // A mov from %clock has a handler without a source.
  if (instruction.opcode == Opcode::mov && types.size() == 1) types.push_back(types[0]);
  if (instruction.is(Opcode::bar, Opcode::barrier) && instruction.has("red")) {
    std::rotate(types.begin() + 1, types.begin() + 2, types.end());  // PTX lists the predicate last
  }
  Rules rules;
  std::size_t at = 0;
  const bool is_pair = !instruction.operands.empty() &&
                       instruction.operands[0].kind == Operand::Kind::pair &&
                       spec.destinations == 2;
  if (is_pair) {
    rules.push_back(rule(Kind::pair, types[0]));
    rules.back().second = types[1];
    at = 2;
  }
  for (const int group : groups_of(instruction, spec)) {
    if (at >= types.size()) break;
    const bool writes = at < static_cast<std::size_t>(spec.destinations);
    rules.push_back(several(writes ? destination(types[at]) : source(types[at]), group));
    at += static_cast<std::size_t>(group);
  }
  for (std::size_t i = 0; i < rules.size(); ++i) {
    rules[i].may_be_wider = true;
    rules[i].is_fragment = instruction.is(Opcode::mma, Opcode::wmma);
    rules[i].may_be_negated = may_be_negated(instruction, i, rules);
  }
  if (instruction.opcode == Opcode::lop3) rules.back() = constant(0, 255);
  return exactly(std::move(rules));
}

}  // namespace

std::optional<OpSpec> register_operation(const Instruction& instruction) {
  if (auto found = cluster_instruction(instruction)) return found;
  if (auto found = control(instruction)) return found;
  if (auto found = arithmetic(instruction)) return found;
  return matrix(instruction);
}

std::optional<OperandRules> operand_rules(const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::bra: return exactly({rule(Kind::label)});
    case Opcode::brx: return exactly({rule(Kind::reg, Type::u32), rule(Kind::label)});
    case Opcode::ret:
    case Opcode::exit: return exactly({});
    case Opcode::ld:
    case Opcode::ldu:
    case Opcode::st: return load_or_store(instruction);
    case Opcode::atom:
    case Opcode::red: return atomic(instruction);
    case Opcode::cp: return copy(instruction);
    case Opcode::clusterlaunchcontrol: return launch_control(instruction);
    case Opcode::mov:
      if (instruction.has("b128")) return wide_move(instruction);
      break;
    case Opcode::mbarrier: return mbarrier(instruction);
    case Opcode::wgmma: return wgmma(instruction);
    case Opcode::mma:
      if (const auto form = narrow_multiply_form(instruction)) return narrow_multiply(*form);
      if (const auto form = sparse_multiply_form(instruction)) return sparse_multiply(*form);
      break;
    case Opcode::tcgen05: return tcgen05_operands(instruction);
    case Opcode::ldmatrix:
    case Opcode::stmatrix: return matrix_memory(instruction);
    case Opcode::wmma:
      if (!instruction.has("mma")) return wmma_memory(instruction);
      break;
    case Opcode::prefetch:
    case Opcode::prefetchu: return exactly({address()});
    case Opcode::discard:
    case Opcode::applypriority: return exactly({address(), constant(128, 128)});
    case Opcode::createpolicy: return create_policy(instruction);
    default: break;
  }
  const auto spec = register_operation(instruction);
  return spec ? std::optional(rules_of(instruction, *spec)) : std::nullopt;
}

}  // namespace rung::vgpu
