#pragma once
// Parses declarations of variables and parameters (PTX ISA, 5.4 and chapter 7).

#include <optional>
#include <string_view>
#include <vector>

#include "vgpu/ptx/initializer.hpp"
#include "vgpu/ptx/lexer.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu::ptx {

/// A variable, and its name as written.
struct Declaration {
  std::string_view name;
  Variable variable;
};

/// The space whose declarations start with `directive`, such as ".global".
std::optional<Space> space_named(std::string_view directive);

class VariableParser {
 public:
  explicit VariableParser(Lexer& lexer) : lexer_(lexer), initializer_(lexer) {}

  /// Parses `.global .align 4 .f32 x[4] = {…}, y;`.
  std::vector<Declaration> parse(bool external);

  /// Parses `(.param .u64 x, .reg .b32 %y)`: parameters or results of a function.
  std::vector<Declaration> parse_parameters();

  /// Parses `.attribute(…)`. Returns true if it contains .managed. Unified addresses (`.unified(1,
  /// 2)`) need no handling here.
  bool parse_attributes();

 private:
  Variable head();
  void qualifier(Variable& variable, bool& aligned);
  void pointee();
  int alignment();
  Declaration declarator(const Variable& head);
  std::vector<std::int64_t> extents(Variable& variable);

  Lexer& lexer_;
  InitializerParser initializer_;
};

}  // namespace rung::vgpu::ptx
