#pragma once
// Parses functions: everything before the body of a `.func` or `.entry` (PTX ISA, 11.1 and 11.4).

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "vgpu/ptx/lexer.hpp"
#include "vgpu/ptx/module.hpp"
#include "vgpu/ptx/symbols.hpp"
#include "vgpu/ptx/variables.hpp"

namespace rung::vgpu::ptx {

class FunctionParser {
 public:
  FunctionParser(Lexer& lexer, Symbols& symbols, VariableParser& variables, Module& module)
      : lexer_(lexer), symbols_(symbols), variables_(variables), module_(module) {}

  /// Parses from `.func` or `.entry` to the end of the body, or to the ';' of a declaration.
  void parse();

 private:
  std::size_t slot(const Token& name);
  void declare(std::vector<Declaration>& declarations, std::vector<Variable>& into);
  bool directive(Function& function);
  void extent(std::int64_t (&extent)[3], std::string_view what);

  Lexer& lexer_;
  Symbols& symbols_;
  VariableParser& variables_;
  Module& module_;
  std::unordered_map<std::string_view, std::size_t> slots_;  // indices in module.functions
};

}  // namespace rung::vgpu::ptx
