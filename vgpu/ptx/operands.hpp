#pragma once
// Parses the operands of an instruction (PTX ISA, chapter 6).

#include <string_view>
#include <vector>

#include "vgpu/ptx/lexer.hpp"
#include "vgpu/ptx/module.hpp"
#include "vgpu/ptx/symbols.hpp"

namespace rung::vgpu::ptx {

class OperandParser {
 public:
  OperandParser(Lexer& lexer, Symbols& symbols) : lexer_(lexer), symbols_(symbols) {}

  /// Parses all operands of an instruction, whose opcode and modifiers are known, and the ';' after
  /// them. Names that can only be labels become Kind::label, even if the label does not exist.
  std::vector<Operand> parse(const Instruction& instruction);

  /// Reads the name of a predicate and returns its register.
  int parse_guard();

 private:
  Operand operand();
  Operand operand_of_call();
  Operand list(Operand::Kind kind, std::string_view open, std::string_view close);
  Operand pair(Operand first);
  Operand unit();
  Operand negated();
  Operand named();
  Operand of_register(const Token& name, const Symbols::Symbol& symbol);
  Operand special(const Token& name);
  Operand label();
  Operand immediate();
  Operand address();
  void take_offset(Operand& operand);
  int component(std::string_view of, int width);

  Lexer& lexer_;
  Symbols& symbols_;
  bool labels_allowed_ = false;
};

}  // namespace rung::vgpu::ptx
