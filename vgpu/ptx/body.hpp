#pragma once
// The body of a function: declarations, labels and instructions in nested scopes (PTX ISA, 4.3).

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "vgpu/ptx/labels.hpp"
#include "vgpu/ptx/lexer.hpp"
#include "vgpu/ptx/module.hpp"
#include "vgpu/ptx/operands.hpp"
#include "vgpu/ptx/symbols.hpp"
#include "vgpu/ptx/variables.hpp"

namespace rung::vgpu::ptx {

class BodyParser {
 public:
  /// `symbols` must have entered the function, and contain its parameters.
  BodyParser(Lexer& lexer, Symbols& symbols, VariableParser& variables, Module& module,
             Function& function)
      : lexer_(lexer),
        symbols_(symbols),
        variables_(variables),
        module_(module),
        function_(function),
        operands_(lexer, symbols),
        labels_(lexer, function) {}

  /// Parses from '{' to the matching '}'.
  void parse();

 private:
  void statement();
  void open_scope();
  void directive();
  void pragma();
  void registers();
  void variables();
  void location();
  using Place = std::tuple<int, int, int>;  // file, line, column
  Place place();
  std::uint32_t inlined_call(const Place& call);
  void label();
  void branch_targets(std::string name);
  void call_targets();
  void call_prototype();
  void guarded_instruction();
  void instruction(int guard, bool guard_negated);
  void refer_labels();

  Lexer& lexer_;
  Symbols& symbols_;
  VariableParser& variables_;
  Module& module_;
  Function& function_;
  OperandParser operands_;
  Labels labels_;
  SourceLine source_;
  std::uint32_t inlined_by_ = 0;                                    // Instruction::inlined_by
  std::map<Place, std::uint32_t> locations_;                        // the same, of each .loc so far
  std::map<std::pair<Place, std::uint32_t>, std::uint32_t> calls_;  // indices of Module::calls
};

/// Skips `.pragma "nounroll";`, which does not affect results.
void skip_pragma(Lexer& lexer);

}  // namespace rung::vgpu::ptx
