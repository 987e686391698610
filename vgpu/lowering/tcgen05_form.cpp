#include "vgpu/lowering/tcgen05_form.hpp"

#include <array>
#include <string_view>
#include <utility>

namespace rung::vgpu {
namespace {

using ptx::Instruction;
using ptx::Operand;
using ptx::Type;
using Kind = OperandRule::Kind;

template <class Value, std::size_t size>
std::optional<Value> named(const Instruction& instruction,
                           const std::array<std::pair<std::string_view, Value>, size>& names) {
  std::optional<Value> found;
  for (const auto& [name, value] : names) {
    if (!instruction.has(name)) continue;
    if (found) return std::nullopt;
    found = value;
  }
  return found;
}

constexpr std::array<std::pair<std::string_view, TensorShape>, 5> shapes = {{
    {"32x32b", TensorShape::l32_b32},
    {"16x64b", TensorShape::l16_b64},
    {"16x128b", TensorShape::l16_b128},
    {"16x256b", TensorShape::l16_b256},
    {"16x32bx2", TensorShape::l16_b32_twice},
}};

constexpr std::array<std::pair<std::string_view, int>, 8> counts = {{{"x1", 1},
                                                                     {"x2", 2},
                                                                     {"x4", 4},
                                                                     {"x8", 8},
                                                                     {"x16", 16},
                                                                     {"x32", 32},
                                                                     {"x64", 64},
                                                                     {"x128", 128}}};

constexpr std::array<std::pair<std::string_view, TensorKind>, 7> kinds = {{
    {"kind::f16", TensorKind::f16},
    {"kind::tf32", TensorKind::tf32},
    {"kind::f8f6f4", TensorKind::f8f6f4},
    {"kind::i8", TensorKind::i8},
    {"kind::mxf8f6f4", TensorKind::mxf8f6f4},
    {"kind::mxf4", TensorKind::mxf4},
    {"kind::mxf4nvf4", TensorKind::mxf4nvf4},
}};

/// Scales along k by the modifier; .block16 and .block32 name the elements of a scale.
constexpr std::array<std::pair<std::string_view, int>, 5> scale_vectors = {{{"scale_vec::1X", 1},
                                                                            {"scale_vec::2X", 2},
                                                                            {"scale_vec::4X", 4},
                                                                            {"block32", 32},
                                                                            {"block16", 16}}};

/// The number of scales of 64 elements of 4 bits, or 32 of 8 bits; 0 if the kind does not have it.
int scales_of(TensorKind kind, std::optional<int> vector) {
  const int along_k = kind == TensorKind::mxf8f6f4 ? 32 : 64;
  int scales = kind == TensorKind::mxf8f6f4 ? 1 : 2;
  if (vector) scales = *vector > 4 ? along_k / *vector : *vector;
  const bool fits = kind == TensorKind::mxf8f6f4 ? scales == 1
                    : kind == TensorKind::mxf4   ? scales == 2
                                                 : scales == 2 || scales == 4;
  return fits ? scales : 0;
}

OperandRule rule(Kind kind, Type type = Type::none, int count = 1) {
  OperandRule result;
  result.kind = kind;
  result.type = type;
  result.elements = count;
  return result;
}

OperandRules exactly(std::vector<OperandRule> rules) {
  const std::size_t required = rules.size();
  return {std::move(rules), required};
}

std::optional<OperandRules> access_rules(const Instruction& instruction) {
  const auto fragment = tensor_fragment(instruction);
  const auto reduction = tensor_reduction(instruction);
  if (!fragment || !reduction) return std::nullopt;
  const bool loads = instruction.has("ld");
  const int results =
      reduction->type == TensorReduction::Type::none ? 0 : 1;  // after the registers
  OperandRule registers =
      rule(loads ? Kind::destination : Kind::reg, Type::b32, fragment->registers() + results);
  registers.is_fragment = true;
  std::vector<OperandRule> rules = {rule(Kind::address)};
  if (fragment->shape == TensorShape::l16_b32_twice) {
    rules.push_back(rule(Kind::constant));
    rules.back().least = 0;
    rules.back().most = tensor_columns;
  }
  rules.insert(loads ? rules.begin() : rules.end(), registers);
  return exactly(std::move(rules));
}

std::optional<OperandRules> multiply_rules(const Instruction& instruction) {
  const auto form = tensor_multiply_form(instruction);
  const auto& operands = instruction.operands;
  if (!form || operands.size() < 4) return std::nullopt;
  const bool a_is_address = operands[1].kind == Operand::Kind::address;
  std::vector<OperandRule> rules = {
      rule(Kind::address), a_is_address ? rule(Kind::address) : rule(Kind::source, Type::b64),
      rule(Kind::source, Type::b64)};
  if (form->sparse) rules.push_back(rule(Kind::address));  // metadata
  rules.push_back(rule(Kind::source, Type::b32));
  if (form->scales_of_k != 0) rules.insert(rules.end(), 2, rule(Kind::address));
  const std::size_t next = rules.size();
  if (next < operands.size() && operands[next].kind == Operand::Kind::vector &&
      form->scales_of_k == 0 && !form->weight_stationary) {
    rules.push_back(rule(Kind::source, Type::b32, 4 * form->blocks));
  }
  rules.push_back(rule(Kind::source, Type::pred));
  OperandRules result = exactly(std::move(rules));
  const bool takes_scale = form->kind == TensorKind::f16 || form->kind == TensorKind::tf32;
  if (takes_scale && !form->weight_stationary) {
    result.rules.push_back(rule(Kind::constant));
    result.rules.back().most = 15;
  }
  if (form->weight_stationary) result.rules.push_back(rule(Kind::source, Type::b64));
  return result;
}

}  // namespace

int tcgen05_blocks(const Instruction& instruction) {
  return instruction.has("cta_group::1") ? 1 : instruction.has("cta_group::2") ? 2 : 0;
}

std::optional<TensorReduction> tensor_reduction(const Instruction& instruction) {
  using Type5 = TensorReduction::Type;
  constexpr std::array<std::pair<std::string_view, Type5>, 3> types = {
      {{"f32", Type5::f32}, {"u32", Type5::u32}, {"s32", Type5::s32}}};
  TensorReduction reduction;
  if (!instruction.has("red")) return reduction;
  const auto type = named(instruction, types);
  const bool has_columns =
      !instruction.has("x1") && (instruction.has("32x32b") || instruction.has("16x32bx2"));
  if (!type || !has_columns || instruction.has("min") == instruction.has("max"))
    return std::nullopt;
  reduction.type = *type;
  reduction.is_max = instruction.has("max");
  reduction.of_magnitudes = instruction.has("abs");
  reduction.keeps_nan = instruction.has("NaN");
  const bool is_float = reduction.type == Type5::f32;
  if (!is_float && (reduction.of_magnitudes || reduction.keeps_nan)) return std::nullopt;
  return reduction;
}

std::optional<TensorFragment> tensor_fragment(const Instruction& instruction) {
  const auto shape = named(instruction, shapes);
  const auto count = named(instruction, counts);
  if (!shape || !count || !instruction.has("sync") || !instruction.has("aligned")) {
    return std::nullopt;
  }
  TensorFragment fragment;
  fragment.shape = *shape;
  fragment.repeats = *count;
  fragment.packed = instruction.has("pack::16b") || instruction.has("unpack::16b");
  constexpr int max_registers = 128;
  if (fragment.registers() > max_registers) return std::nullopt;
  return fragment;
}

std::optional<TensorMultiplyOp> tensor_multiply_form(const Instruction& instruction) {
  const auto kind = named(instruction, kinds);
  TensorMultiplyOp op;
  op.blocks = tcgen05_blocks(instruction);
  op.weight_stationary = instruction.has("ws");
  if (!kind || op.blocks == 0 || (op.weight_stationary && op.blocks != 1)) return std::nullopt;
  op.shifts_a = instruction.has("ashift");
  if (op.shifts_a && (op.weight_stationary || instruction.operands.size() < 2 ||
                      instruction.operands[1].kind != Operand::Kind::address)) {
    return std::nullopt;  // of A in tensor memory alone
  }
  op.sparse = instruction.has("sp");
  op.kind = *kind;
  if (has_block_scales(*kind)) {
    op.scales_of_k = scales_of(*kind, named(instruction, scale_vectors));
    if (op.scales_of_k == 0 || op.weight_stationary) return std::nullopt;
  }
  return op;
}

std::optional<TensorCopyOp> tensor_copy_form(const Instruction& instruction) {
  using Spread = TensorCopyOp::Spread;
  struct Size {
    int lanes, bits;
  };
  constexpr std::array<std::pair<std::string_view, Size>, 5> copies = {{{"128x256b", {128, 256}},
                                                                        {"4x256b", {4, 256}},
                                                                        {"128x128b", {128, 128}},
                                                                        {"64x128b", {64, 128}},
                                                                        {"32x128b", {32, 128}}}};
  constexpr std::array<std::pair<std::string_view, Spread>, 3> spreads = {
      {{"warpx4", Spread::all_warps},
       {"warpx2::02_13", Spread::warps_02_13},
       {"warpx2::01_23", Spread::warps_01_23}}};
  const auto shape = named(instruction, copies);
  TensorCopyOp op;
  op.blocks = tcgen05_blocks(instruction);
  op.spread = named(instruction, spreads).value_or(Spread::none);
  if (!shape || op.blocks == 0) return std::nullopt;
  op.lanes = shape->lanes;
  op.bits = shape->bits;
  const int lanes_of_spread = op.spread == Spread::none        ? 0
                              : op.spread == Spread::all_warps ? 32
                                                               : 64;
  if (lanes_of_spread != (op.lanes == 32 || op.lanes == 64 ? op.lanes : 0)) return std::nullopt;
  op.source_bits = instruction.has("b6x16_p32") ? 6 : instruction.has("b4x16_p64") ? 4 : 0;
  return op;
}

std::optional<OperandRules> tcgen05_operands(const Instruction& instruction) {
  const auto is = [&](std::string_view modifier) { return instruction.has(modifier); };
  const OperandRule word = rule(Kind::source, Type::b32);
  if (is("alloc")) return exactly({rule(Kind::address), word});
  if (is("dealloc")) return exactly({word, word});
  if (is("relinquish_alloc_permit") || is("wait::ld") || is("wait::st") ||
      is("fence::before_thread_sync") || is("fence::after_thread_sync")) {
    return exactly({});
  }
  if (is("ld") || is("st")) return access_rules(instruction);
  if (is("mma")) return multiply_rules(instruction);
  if (is("shift")) return exactly({rule(Kind::address)});
  if (is("cp")) {
    if (!tensor_copy_form(instruction)) return std::nullopt;
    return exactly({rule(Kind::address), rule(Kind::source, Type::b64)});
  }
  if (is("commit")) {
    OperandRules rules = exactly({rule(Kind::address)});
    if (is("multicast::cluster"))
      rules = exactly({rule(Kind::address), rule(Kind::source, Type::b16)});
    return rules;
  }
  return std::nullopt;
}

}  // namespace rung::vgpu
