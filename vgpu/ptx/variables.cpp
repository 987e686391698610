#include "vgpu/ptx/variables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "vgpu/ptx/constant.hpp"
#include "vgpu/ptx/limits.hpp"

namespace rung::vgpu::ptx {

std::optional<Space> space_named(std::string_view directive) {
  if (directive == ".reg") return Space::reg;
  if (directive == ".global") return Space::global;
  if (directive == ".shared") return Space::shared;
  if (directive == ".local") return Space::local;
  if (directive == ".const") return Space::constant;
  if (directive == ".param") return Space::param;
  return std::nullopt;
}

std::vector<Declaration> VariableParser::parse(bool external) {
  Variable common = head();
  common.external = external;
  std::vector<Declaration> declared;
  do {
    declared.push_back(declarator(common));
    Variable& variable = declared.back().variable;
    const std::vector<std::int64_t> dimensions = extents(variable);
    if (!lexer_.accept("=")) continue;
    if (external || (variable.space != Space::global && variable.space != Space::constant)) {
      lexer_.fail(variable.line, fmt::format("{} has an initialiser; only .global and .const "
                                             "variables that are not .extern may",
                                             in_quotes(variable.name)));
    }
    initializer_.parse(variable, dimensions);
  } while (lexer_.accept(","));
  if (!lexer_.accept(";")) lexer_.fail_expected("'=', ',' or ';' in a declaration");
  return declared;
}

std::vector<Declaration> VariableParser::parse_parameters() {
  std::vector<Declaration> parameters;
  lexer_.expect("(");
  if (lexer_.accept(")")) return parameters;
  do {
    const std::optional<Space> space = space_named(lexer_.peek().text);
    if (space != Space::param && space != Space::reg) lexer_.fail_expected("'.param' or '.reg'");
    parameters.push_back(declarator(head()));
    extents(parameters.back().variable);
  } while (lexer_.accept(","));
  if (!lexer_.accept(")")) lexer_.fail_expected("',' or ')' after a parameter");
  return parameters;
}

/// Parses space, qualifiers and type, which all declarators of a declaration share.
Variable VariableParser::head() {
  Variable variable;
  const std::optional<Space> space = space_named(lexer_.peek().text);
  if (!space) lexer_.fail_expected("a state space");
  variable.space = *space;
  lexer_.take();
  bool aligned = false;
  while (lexer_.at(Token::Kind::dotted)) qualifier(variable, aligned);
  if (variable.type == Type::none) lexer_.fail_expected("a type");
  if (variable.type == Type::pred && variable.space != Space::reg) {
    lexer_.fail(lexer_.peek().line, "only registers are of type pred");
  }
  if (!aligned) variable.align = std::max(1, size_of(variable.type) * variable.vector);
  return variable;
}

void VariableParser::qualifier(Variable& variable, bool& aligned) {
  const Token token = lexer_.peek();
  const Type type = type_named(token.text.substr(1));
  if (token.text == ".align") {
    variable.align = alignment();
    aligned = true;
  } else if (token.text == ".attribute") {
    variable.managed = parse_attributes();
  } else if (token.text == ".ptr") {
    pointee();
  } else if ((token.text == ".v2" || token.text == ".v4") && variable.vector == 1) {
    variable.vector = token.text == ".v2" ? 2 : 4;
    lexer_.take();
  } else if (type != Type::none && variable.type == Type::none) {
    variable.type = type;
    lexer_.take();
  } else {
    lexer_.fail_expected(variable.type == Type::none ? "a type, such as '.b32'" : "a name");
  }
}

/// Parses `.align 16`.
int VariableParser::alignment() {
  lexer_.expect(".align");
  const int line = lexer_.peek().line;
  const std::int64_t align = parse_literal(lexer_, "an alignment", 1, limits::largest_alignment);
  if ((align & (align - 1)) != 0) {
    lexer_.fail(line, fmt::format("an alignment is {}, allowed are powers of two", align));
  }
  return static_cast<int>(align);
}

bool VariableParser::parse_attributes() {
  bool managed = false;
  lexer_.expect(".attribute");
  lexer_.expect("(");
  do {
    if (lexer_.accept(".managed")) {
      managed = true;
    } else if (lexer_.accept(".unified")) {
      lexer_.expect("(");
      parse_integer(lexer_, "the upper half of a UUID");
      lexer_.expect(",");
      parse_integer(lexer_, "the lower half of a UUID");
      lexer_.expect(")");
    } else {
      lexer_.fail_expected("'.managed' or '.unified'");
    }
  } while (lexer_.accept(","));
  lexer_.expect(")");
  return managed;
}

/// Parses `.ptr .global .align 16`: properties of a pointer's target. A hint, not the parameter's
/// alignment.
void VariableParser::pointee() {
  lexer_.expect(".ptr");
  if (space_named(lexer_.peek().text)) lexer_.take();
  if (lexer_.at(".align")) alignment();
}

Declaration VariableParser::declarator(const Variable& head) {
  const Token name = lexer_.expect(Token::Kind::identifier, "a name");
  Declaration declaration{name.text, head};
  declaration.variable.name = name.text;
  declaration.variable.line = name.line;
  return declaration;
}

/// Parses `[2][3]`, and sets variable.count. The first extent may be omitted; it is then 0.
std::vector<std::int64_t> VariableParser::extents(Variable& variable) {
  std::vector<std::int64_t> extents;
  const std::size_t max_extents = variable.space == Space::reg ? 0 : limits::max_extents;
  const std::int64_t element = std::max(1, size_of(variable.type) * variable.vector);
  const std::int64_t most = limits::max_variable_bytes / element;
  while (lexer_.accept("[")) {
    if (extents.size() == max_extents) {
      lexer_.fail(variable.line, fmt::format("{} has more dimensions than the {} allowed",
                                             in_quotes(variable.name), max_extents));
    }
    const bool unsized = extents.empty() && lexer_.at("]");
    extents.push_back(unsized ? 0 : parse_literal(lexer_, "the number of elements", 1, most));
    if (!unsized) variable.count *= extents.back();
    if (variable.count > most) {
      lexer_.fail(variable.line, fmt::format("{} takes more than the {} bytes allowed",
                                             in_quotes(variable.name), limits::max_variable_bytes));
    }
    lexer_.expect("]");
  }
  if (!extents.empty() && extents[0] == 0) variable.count = 0;
  return extents;
}

}  // namespace rung::vgpu::ptx
