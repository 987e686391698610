#include "vgpu/ptx/functions.hpp"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "vgpu/ptx/body.hpp"
#include "vgpu/ptx/constant.hpp"

namespace rung::vgpu::ptx {

namespace {

constexpr std::int64_t int_max = std::numeric_limits<int>::max();

}  // namespace

void FunctionParser::parse() {
  Function function;
  function.entry = lexer_.take().text == ".entry";
  function.line = lexer_.peek().line;
  if (lexer_.at(".attribute")) variables_.parse_attributes();
  std::vector<Declaration> results, parameters;
  if (!function.entry && lexer_.at("(")) results = variables_.parse_parameters();
  const Token name = lexer_.expect(Token::Kind::identifier, "the name of a function");
  function.name = name.text;
  if (lexer_.at("(")) parameters = variables_.parse_parameters();
  const std::size_t place = slot(name);

  symbols_.enter(function);
  declare(parameters, function.parameters);
  declare(results, function.results);
  while (directive(function)) {
  }
  function.external = lexer_.accept(";");
  if (!function.external) {
    if (!lexer_.at("{")) lexer_.fail_expected("'{', ';' or a directive of a function");
    if (!module_.functions[place].external) {
      lexer_.fail(name.line, fmt::format("function {} is defined twice", in_quotes(name.text)));
    }
    BodyParser(lexer_, symbols_, variables_, module_, function).parse();
  }
  symbols_.leave();
  // A declaration after the definition is ignored.
  if (module_.functions[place].external) module_.functions[place] = std::move(function);
}

/// The function's index in the module. Assigned before the body is parsed, because a body may call
/// its own function.
std::size_t FunctionParser::slot(const Token& name) {
  const auto [known, fresh] = slots_.try_emplace(name.text, module_.functions.size());
  if (!fresh) return known->second;
  if (!symbols_.declare_global(name.text)) {
    lexer_.fail(name.line, fmt::format("{} is a variable already", in_quotes(name.text)));
  }
  module_.functions.emplace_back();
  module_.functions.back().external = true;
  return known->second;
}

void FunctionParser::declare(std::vector<Declaration>& declarations, std::vector<Variable>& into) {
  for (Declaration& declaration : declarations) {
    Variable& variable = declaration.variable;
    const bool fresh =
        variable.space == Space::reg
            ? symbols_.declare_register(declaration.name, variable.type, variable.vector)
            : symbols_.declare_variable(declaration.name, variable);
    if (!fresh) {
      lexer_.fail(variable.line, fmt::format("{} is declared twice", in_quotes(declaration.name)));
    }
    into.push_back(std::move(variable));
  }
}

/// Parses a directive between parameters and body. Returns false if the next token is not a
/// directive.
bool FunctionParser::directive(Function& function) {
  if (lexer_.at(".pragma")) {
    skip_pragma(lexer_);
  } else if (lexer_.accept(".maxntid")) {
    extent(function.max_threads, "a number of threads");
  } else if (lexer_.accept(".reqntid")) {
    extent(function.required_threads, "a number of threads");
  } else if (lexer_.accept(".reqnctapercluster")) {
    extent(function.required_cluster, "a number of blocks");
  } else if (lexer_.accept(".minnctapersm")) {
    function.min_blocks = static_cast<int>(parse_literal(lexer_, "a number of blocks", 0, int_max));
  } else if (lexer_.accept(".maxnreg")) {
    function.max_registers =
        static_cast<int>(parse_literal(lexer_, "a number of registers", 0, int_max));
  } else if (lexer_.accept(".maxnctapersm") || lexer_.accept(".maxclusterrank") ||
             lexer_.accept(".abi_preserve") || lexer_.accept(".abi_preserve_control")) {
    parse_literal(lexer_, "a number", 0, int_max);  // limits for ptxas, ignored here
  } else {
    return lexer_.accept(".noreturn") || lexer_.accept(".explicitcluster") ||
           lexer_.accept(".blocksareclusters");
  }
  return true;
}

/// Parses `128`, `16, 16` or `8, 8, 2`. Missing values are 1.
void FunctionParser::extent(std::int64_t (&extent)[3], std::string_view what) {
  extent[0] = parse_literal(lexer_, what, 1, int_max);
  extent[1] = lexer_.accept(",") ? parse_literal(lexer_, what, 1, int_max) : 1;
  extent[2] = lexer_.accept(",") ? parse_literal(lexer_, what, 1, int_max) : 1;
}

}  // namespace rung::vgpu::ptx
