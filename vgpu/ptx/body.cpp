#include "vgpu/ptx/body.hpp"

#include <fmt/format.h>

#include <limits>
#include <string>
#include <utility>

#include "vgpu/ptx/constant.hpp"
#include "vgpu/ptx/limits.hpp"
#include "vgpu/ptx/opcodes.hpp"

namespace rung::vgpu::ptx {

namespace {

bool is_lower_case(char c) { return c >= 'a' && c <= 'z'; }

}  // namespace

void BodyParser::parse() {
  lexer_.expect("{");
  const std::size_t outermost = symbols_.depth();
  labels_.open_scope();
  while (true) {
    if (!lexer_.accept("}")) {
      statement();
      continue;
    }
    labels_.close_scope();
    if (symbols_.depth() == outermost) return;
    symbols_.close_scope();
  }
}

void BodyParser::statement() {
  if (lexer_.accept("{")) return open_scope();
  if (lexer_.at("@")) return guarded_instruction();
  if (lexer_.at(Token::Kind::dotted)) return directive();
  if (lexer_.at(Token::Kind::identifier) && lexer_.second_is(":")) return label();
  instruction(-1, false);
}

void BodyParser::open_scope() {
  if (symbols_.depth() == limits::deepest_scope) {
    lexer_.fail(lexer_.peek().line,
                fmt::format("scopes nested more than {} deep", limits::deepest_scope));
  }
  symbols_.open_scope();
  labels_.open_scope();
}

void BodyParser::directive() {
  if (lexer_.at(".loc")) return location();
  if (lexer_.at(".pragma")) return pragma();
  if (lexer_.at(".reg")) return registers();
  if (space_named(lexer_.peek().text)) return variables();
  lexer_.fail_expected("an instruction or a declaration");
}

/// Parses `.reg .b32 %r<37>, x;`.
void BodyParser::registers() {
  lexer_.expect(".reg");
  int width = 1;
  if (lexer_.accept(".v2")) width = 2;
  if (width == 1 && lexer_.accept(".v4")) width = 4;
  const Type type =
      lexer_.at(Token::Kind::dotted) ? type_named(lexer_.peek().text.substr(1)) : Type::none;
  if (type == Type::none) lexer_.fail_expected("the type of a register, such as '.b32'");
  lexer_.take();
  do {
    const Token name = lexer_.expect(Token::Kind::identifier, "the name of a register");
    bool fresh = true;
    if (lexer_.accept("<")) {
      const std::int64_t count =
          parse_literal(lexer_, "the number of registers", 1, limits::max_registers);
      lexer_.expect(">");
      fresh = symbols_.declare_registers(name.text, type, width, count);
    } else {
      fresh = symbols_.declare_register(name.text, type, width);
    }
    if (!fresh) lexer_.fail(name.line, fmt::format("{} is declared twice", in_quotes(name.text)));
  } while (lexer_.accept(","));
  if (!lexer_.accept(";")) lexer_.fail_expected("'<', ',' or ';' after the name of a register");
}

void BodyParser::variables() {
  const Token space = lexer_.peek();
  if (space.text == ".global" || space.text == ".const") {
    lexer_.fail(space.line, fmt::format("a {} variable belongs outside of functions", space.text));
  }
  for (Declaration& declaration : variables_.parse(false)) {
    const int line = declaration.variable.line;
    if (!symbols_.declare_variable(declaration.name, declaration.variable)) {
      lexer_.fail(line, fmt::format("{} is declared twice", in_quotes(declaration.name)));
    }
    function_.variables.push_back(std::move(declaration.variable));
  }
}

BodyParser::Place BodyParser::place() {
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  const auto file =
      static_cast<int>(parse_literal(lexer_, "the number of a file", 0, limits::max_files));
  const auto line = static_cast<int>(parse_literal(lexer_, "a line", 0, most));
  const auto column = static_cast<int>(parse_literal(lexer_, "a column", 0, most));
  return {file, line, column};
}

/// Parses `.loc 1 27 3`. For inlined code, `, function_name $L__info_string0+5, inlined_at 1 40 9`
/// follows; the location is that of the inlined text.
void BodyParser::location() {
  lexer_.expect(".loc");
  const Place at = place();
  source_ = {std::get<0>(at), std::get<1>(at)};
  inlined_by_ = 0;
  if (module_.has_numbered_calls && std::cmp_less(std::get<2>(at), module_.calls.size())) {
    inlined_by_ = static_cast<std::uint32_t>(std::get<2>(at));
  }
  while (lexer_.accept(",")) {
    if (lexer_.accept("function_name")) {
      lexer_.expect(Token::Kind::identifier, "the name of a function");
      if (lexer_.accept("+")) {
        parse_literal(lexer_, "an offset", 0, std::numeric_limits<int>::max());
      }
    } else if (lexer_.accept("inlined_at")) {
      inlined_by_ = inlined_call(place());
    } else {
      lexer_.fail_expected("'function_name' or 'inlined_at'");
    }
  }
  if (inlined_by_ != 0 && !module_.has_numbered_calls) locations_[at] = inlined_by_;
}

/// The call at a place whose own .loc comes before (PTX ISA, "Debugging Directives: .loc").
std::uint32_t BodyParser::inlined_call(const Place& call) {
  const auto known = locations_.find(call);
  const std::uint32_t inlined_by = known == locations_.end() ? 0 : known->second;
  const auto [at, is_new] = calls_.try_emplace({call, inlined_by}, 0);
  if (is_new) {
    if (module_.calls.empty()) module_.calls.emplace_back();
    at->second = static_cast<std::uint32_t>(module_.calls.size());
    module_.calls.push_back({{}, std::get<0>(call), std::get<1>(call), inlined_by});
  }
  return at->second;
}

void BodyParser::label() {
  const Token name = lexer_.expect(Token::Kind::identifier, "a label");
  lexer_.expect(":");
  const auto define = [&](Labels::Kind kind) { return labels_.define(name.text, kind, name.line); };
  if (lexer_.at(".branchtargets")) {
    branch_targets(define(Labels::Kind::targets));
  } else if (lexer_.at(".calltargets")) {
    define(Labels::Kind::callees);
    call_targets();
  } else if (lexer_.at(".callprototype")) {
    define(Labels::Kind::callees);
    call_prototype();
  } else {
    function_.labels.push_back({define(Labels::Kind::code), function_.body.size()});
  }
}

/// Parses `.branchtargets a, b;`.
void BodyParser::branch_targets(std::string name) {
  lexer_.expect(".branchtargets");
  function_.branch_targets.push_back({std::move(name), {}});
  std::vector<std::string>& targets = function_.branch_targets.back().labels;
  do {
    const Token target = lexer_.expect(Token::Kind::identifier, "a label");
    labels_.refer({std::string(target.text), Labels::Kind::code, target.line, true,
                   function_.branch_targets.size() - 1, targets.size()});
    targets.emplace_back(target.text);
  } while (lexer_.accept(","));
  if (!lexer_.accept(";")) lexer_.fail_expected("',' or ';' after a label");
}

/// Parses `.calltargets f, g;`. Only checked, because a call's arguments determine its stack frame.
void BodyParser::call_targets() {
  lexer_.expect(".calltargets");
  do {
    const Token target = lexer_.expect(Token::Kind::identifier, "a function");
    if (!symbols_.find(target.text)) {
      lexer_.fail(target.line, fmt::format("{} is not declared", in_quotes(target.text)));
    }
  } while (lexer_.accept(","));
  if (!lexer_.accept(";")) lexer_.fail_expected("',' or ';' after a function");
}

/// Parses `.callprototype (.param .b32 _) _ (.param .b64 _) .noreturn;`. Only checked, as in
/// call_targets().
void BodyParser::call_prototype() {
  lexer_.expect(".callprototype");
  if (lexer_.at("(")) variables_.parse_parameters();
  lexer_.expect(Token::Kind::identifier, "'_'");
  if (lexer_.at("(")) variables_.parse_parameters();
  lexer_.accept(".noreturn");
  while (lexer_.accept(".abi_preserve") || lexer_.accept(".abi_preserve_control")) {
    parse_literal(lexer_, "a number of registers", 0, limits::max_registers);
  }
  lexer_.expect(";");
}

void BodyParser::guarded_instruction() {
  lexer_.expect("@");
  const bool negated = lexer_.accept("!");
  const int guard = operands_.parse_guard();
  instruction(guard, negated);
}

void BodyParser::instruction(int guard, bool guard_negated) {
  const Token word = lexer_.peek();
  if (!lexer_.at(Token::Kind::identifier) || !is_lower_case(word.text.front())) {
    lexer_.fail_expected("an instruction");
  }
  lexer_.take();
  Instruction instruction;
  instruction.set_opcode(word.text);
  while (lexer_.at(Token::Kind::dotted)) {
    instruction.modifiers.emplace_back(lexer_.take().text.substr(1));
  }
  instruction.operands = operands_.parse(instruction);
  instruction.guard = guard;
  instruction.guard_negated = guard_negated;
  instruction.line = word.line;
  instruction.source = source_;
  instruction.inlined_by = inlined_by_;
  function_.body.push_back(std::move(instruction));
  refer_labels();
}

/// Records the labels among the operands of the instruction just parsed.
void BodyParser::refer_labels() {
  const Instruction& instruction = function_.body.back();
  const Labels::Kind kind = instruction.opcode == Opcode::bra   ? Labels::Kind::code
                            : instruction.opcode == Opcode::brx ? Labels::Kind::targets
                                                                : Labels::Kind::callees;
  for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
    const Operand& operand = instruction.operands[i];
    if (operand.kind != Operand::Kind::label) continue;
    labels_.refer({operand.name, kind, instruction.line, false, function_.body.size() - 1, i});
  }
}

/// Parses `.pragma "rung.cluster 2, 1, 1";`, which replaces .reqnctapercluster. That directive must
/// precede the body; where LLVM does not write it, `rung emu` inserts the pragma.
void BodyParser::pragma() {
  const Token& text = lexer_.peek_second();
  constexpr std::string_view cluster = "rung.cluster ";
  if (text.kind == Token::Kind::string && text.text.starts_with(cluster)) {
    Lexer size(text.text.substr(cluster.size()), "rung.cluster");
    for (int dimension = 0; dimension < 3; ++dimension) {
      if (dimension > 0) size.expect(",");
      function_.required_cluster[dimension] =
          parse_literal(size, "a number of blocks", 1, std::numeric_limits<int>::max());
    }
  }
  skip_pragma(lexer_);
}

void skip_pragma(Lexer& lexer) {
  lexer.expect(".pragma");
  do {
    lexer.expect(Token::Kind::string, "a string");
  } while (lexer.accept(","));
  lexer.expect(";");
}

}  // namespace rung::vgpu::ptx
