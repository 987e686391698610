#include "vgpu/ptx/operands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "vgpu/ptx/constant.hpp"
#include "vgpu/ptx/opcodes.hpp"
#include "vgpu/ptx/special_registers.hpp"

namespace rung::vgpu::ptx {

using OperandKind = Operand::Kind;

namespace {

/// ptxas takes a vector of one element in place of the element in these instructions, in mov only for types of bits, and
/// for one of its operands. Triton writes it.
void unwrap_single_elements(const Instruction& instruction, std::vector<Operand>& operands) {
  const Opcode opcode = instruction.opcode;
  const bool is_access = opcode == Opcode::ld || opcode == Opcode::ldu || opcode == Opcode::st;
  const bool packs_bits = opcode == Opcode::mov && instruction.modifiers.size() == 1 &&
                          instruction.modifiers.front().starts_with('b') &&
                          std::ranges::count(operands, OperandKind::vector, &Operand::kind) == 1;
  if (!is_access && !packs_bits) return;
  for (Operand& operand : operands) {
    if (operand.kind != OperandKind::vector || operand.elements.size() != 1) continue;
    Operand element = std::move(operand.elements.front());
    operand = std::move(element);
  }
}

}  // namespace

std::vector<Operand> OperandParser::parse(const Instruction& instruction) {
  const Opcode opcode = instruction.opcode;
  std::vector<Operand> operands;
  const bool is_call = opcode == Opcode::call;
  labels_allowed_ = is_call || opcode == Opcode::brx;
  if (lexer_.accept(";")) return operands;
  do {
    operands.push_back(opcode == Opcode::bra ? label() : is_call ? operand_of_call() : operand());
  } while (lexer_.accept(","));
  if (!lexer_.accept(";")) lexer_.fail_expected("',' or ';' after an operand");
  unwrap_single_elements(instruction, operands);
  return operands;
}

int OperandParser::parse_guard() {
  labels_allowed_ = false;
  const Token name = lexer_.peek();
  if (!lexer_.at(Token::Kind::identifier)) lexer_.fail_expected("a predicate");
  const Operand guard = named();
  if (guard.kind != OperandKind::reg) {
    lexer_.fail(name.line, fmt::format("guard {} is not a register", in_quotes(name.text)));
  }
  return guard.reg;
}

Operand OperandParser::operand() {
  if (lexer_.at("{")) return list(OperandKind::vector, "{", "}");
  if (lexer_.at("[")) return address();
  return pair(unit());
}

Operand OperandParser::operand_of_call() {
  return lexer_.at("(") ? list(OperandKind::tuple, "(", ")") : unit();
}

Operand OperandParser::list(OperandKind kind, std::string_view open, std::string_view close) {
  Operand list;
  list.kind = kind;
  lexer_.expect(open);
  if (kind == OperandKind::tuple && lexer_.accept(close)) return list;
  do {
    list.elements.push_back(unit());
  } while (lexer_.accept(","));
  if (!lexer_.accept(close)) lexer_.fail_expected(fmt::format("',' or '{}'", close));
  return list;
}

/// Parses `first`, or first|second: the two destinations of setp, shfl, vote, match, elect, lop3.
Operand OperandParser::pair(Operand first) {
  if (!lexer_.accept("|")) return first;
  Operand pair;
  pair.kind = OperandKind::pair;
  pair.elements.push_back(std::move(first));
  pair.elements.push_back(unit());
  for (const Operand& element : pair.elements) {
    if (element.kind != OperandKind::reg && element.kind != OperandKind::sink) {
      lexer_.fail(lexer_.peek().line, "a pair p|q takes registers and '_' only");
    }
  }
  return pair;
}

Operand OperandParser::unit() {
  if (lexer_.accept("_")) return {};
  if (at_constant(lexer_)) return immediate();
  if (lexer_.at("!") || lexer_.at("-")) return negated();
  if (lexer_.at(Token::Kind::identifier)) return named();
  lexer_.fail_expected("an operand");
}

Operand OperandParser::negated() {
  lexer_.take();
  const Token name = lexer_.peek();
  Operand operand = named();
  if (operand.kind != OperandKind::reg) {
    lexer_.fail(name.line,
                fmt::format("{} is negated, but is not a register", in_quotes(name.text)));
  }
  operand.negated = true;
  return operand;
}

Operand OperandParser::immediate() {
  const Constant constant = parse_constant(lexer_);
  Operand operand;
  operand.kind = OperandKind::immediate;
  operand.bits = constant.bits;
  operand.is_float = !constant.is_integer();
  operand.is_single = constant.kind == Constant::Kind::f32;
  return operand;
}

Operand OperandParser::label() {
  Operand operand;
  operand.kind = OperandKind::label;
  operand.name = lexer_.expect(Token::Kind::identifier, "a label").text;
  return operand;
}

Operand OperandParser::named() {
  const Token name = lexer_.peek();
  const std::optional<Symbols::Symbol> symbol = symbols_.find(name.text);
  if (!symbol) {
    const bool is_percent = name.text.starts_with('%');
    if (is_percent && is_special_register(name.text.substr(1))) return special(lexer_.take());
    if (!is_percent && labels_allowed_) return label();
    lexer_.fail(name.line, fmt::format("{}{} is not declared", is_percent ? "register " : "",
                                       in_quotes(name.text)));
  }
  lexer_.take();
  if (symbol->reg >= 0) return of_register(name, *symbol);
  Operand operand;
  operand.kind = OperandKind::symbol;
  operand.name = symbol->name;
  take_offset(operand);
  return operand;
}

Operand OperandParser::of_register(const Token& name, const Symbols::Symbol& symbol) {
  Operand operand;
  operand.kind = OperandKind::reg;
  operand.reg = symbol.reg;
  if (lexer_.at(Token::Kind::dotted)) {
    operand.reg += component(name.text, symbol.width);
    return operand;
  }
  if (symbol.width == 1) return operand;
  Operand whole;
  whole.kind = OperandKind::vector;
  whole.elements.assign(static_cast<std::size_t>(symbol.width), operand);
  for (int i = 0; i < symbol.width; ++i) whole.elements[static_cast<std::size_t>(i)].reg += i;
  return whole;
}

/// Parses the component after the name of a vector: `.x` or `.r` returns 0, `.y` or `.g` 1, and so
/// on.
int OperandParser::component(std::string_view of, int width) {
  const Token token = lexer_.take();
  constexpr std::string_view xyzw = ".x.y.z.w", rgba = ".r.g.b.a";
  const std::size_t at = token.text.size() != 2                            ? std::string_view::npos
                         : xyzw.find(token.text) != std::string_view::npos ? xyzw.find(token.text)
                                                                           : rgba.find(token.text);
  if (width == 1 || at == std::string_view::npos || static_cast<int>(at / 2) >= width) {
    lexer_.fail(token.line,
                fmt::format("{} has no component {}", in_quotes(of), in_quotes(token.text)));
  }
  return static_cast<int>(at / 2);
}

Operand OperandParser::special(const Token& name) {
  Operand operand;
  operand.kind = OperandKind::special;
  operand.name = name.text.substr(1);
  if (lexer_.at(Token::Kind::dotted)) {
    const int width = is_special_vector(operand.name) ? 4 : 1;
    operand.name += '.';
    operand.name += "xyzw"[component(name.text, width)];
  }
  return operand;
}

/// Parses the `+4` of `x+4`, `x+-4` or `x-4`.
void OperandParser::take_offset(Operand& operand) {
  if (lexer_.accept("+") || lexer_.at("-")) {
    operand.offset = parse_integer(lexer_, "an offset in bytes");
  }
}

/// Parses [base+offset], or several parts in brackets: [map, {x, y}].
Operand OperandParser::address() {
  lexer_.expect("[");
  const int line = lexer_.peek().line;
  Operand base;
  if (lexer_.at(Token::Kind::identifier) && !at_constant(lexer_)) {
    base = named();
    if (base.kind == OperandKind::reg) take_offset(base);
  } else {
    base.kind = OperandKind::immediate;
    base.offset = parse_integer(lexer_, "an address");
    base.bits = static_cast<std::uint64_t>(base.offset);
  }
  if (base.kind != OperandKind::reg && base.kind != OperandKind::symbol &&
      base.kind != OperandKind::immediate) {
    lexer_.fail(line, "an address starts with a register, a variable or a number");
  }
  Operand address = base;
  address.kind = OperandKind::address;
  address.bits = 0;
  if (lexer_.at(",")) address.elements.push_back(std::move(base));
  while (lexer_.accept(",")) {
    address.elements.push_back(lexer_.at("{") ? list(OperandKind::vector, "{", "}") : unit());
  }
  if (!lexer_.accept("]")) lexer_.fail_expected("'+', ',' or ']' in an address");
  // A cache hint (PTX ISA, 9.7.9.8, ld), which does not affect results.
  lexer_.accept(".unified");
  return address;
}

}  // namespace rung::vgpu::ptx
