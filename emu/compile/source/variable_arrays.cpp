// The pass over arrays of variable size that are initialized with zeros, which GCC accepts in host code.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>

#include "emu/compile/source/characters.hpp"
#include "emu/compile/source/passes.hpp"
#include "emu/compile/source/statements.hpp"

namespace rung::emu {
namespace {

bool is_number_type(std::string_view word) {
  constexpr std::array<std::string_view, 9> types = {"int",  "unsigned", "long",   "short", "char",
                                                     "bool", "float",    "double", "auto"};
  return word.ends_with("_t") || std::find(types.begin(), types.end(), word) != types.end();
}

/// The first token of the statement, or of the parameter, that token `at` is part of.
std::size_t declaration_begin(const Tokens& tokens, std::size_t at) {
  int depth = 0;
  for (; at > 0; --at) {
    const std::string_view before = tokens[at - 1].text;
    if (before == ";" || before == "{" || before == "}") break;
    depth += before == ")" ? 1 : before == "(" ? -1 : 0;
    if (depth < 0) break;
  }
  return at;
}

/// True if the last declaration of this name before token `end` declares a number that varies. A parameter
/// varies even if it is const.
bool is_variable(const Tokens& tokens, std::size_t end, std::string_view name) {
  for (std::size_t at = end; at-- > 1;) {
    if (tokens[at].text != name) continue;
    const std::string_view before = tokens[at - 1].text;
    const bool is_next = before == ",";  // int n, m;
    if (!is_next && !is_number_type(before)) continue;
    const std::size_t first = declaration_begin(tokens, at);
    if (is_next && (!is_number_type(tokens[first].text) || tokens[at + 1].text == "(")) continue;
    const bool is_parameter = first > 0 && tokens[first - 1].text == "(";
    return std::none_of(tokens.begin() + static_cast<std::ptrdiff_t>(first),
                        tokens.begin() + static_cast<std::ptrdiff_t>(at), [&](const Token& token) {
                          return (token.text == "const" && !is_parameter) ||
                                 token.text == "constexpr" || token.text == "template";
                        });
  }
  return false;
}

bool is_zero(std::string_view value) {
  constexpr std::array<std::string_view, 9> zeros = {"",    "0",     "0.0",  "0.",     "0.0f",
                                                     "0.f", "false", "NULL", "nullptr"};
  while (!value.empty() && is_space(value.front())) value.remove_prefix(1);
  while (!value.empty() && is_space(value.back())) value.remove_suffix(1);
  return std::find(zeros.begin(), zeros.end(), value) != zeros.end();
}

/// The name of the array whose `= {` begins at token `equals`, if its type and its size are such.
std::optional<std::string_view> variable_array(const Tokens& tokens, std::size_t equals) {
  std::size_t at = equals;
  bool has_variable = false;
  while (at > 0 && tokens[at - 1].text == "]") {
    while (at > 0 && tokens[at - 1].text != "[") {
      --at;
      const bool is_name = is_word(tokens[at].text[0]) && !std::isdigit(tokens[at].text[0]);
      has_variable = has_variable || (is_name && is_variable(tokens, at, tokens[at].text));
    }
    if (at > 0) --at;
  }
  if (!has_variable || at < 2) return std::nullopt;
  const std::size_t name = at - 1, first = declaration_begin(tokens, name);
  if (first == name || !is_word(tokens[name].text[0])) return std::nullopt;
  for (std::size_t type = first; type < name; ++type) {
    if (!is_number_type(tokens[type].text) && tokens[type].text != "*") return std::nullopt;
  }
  return tokens[name].text;
}

/// The `=` of members of classes and of variables of namespaces, whose arrays have constant sizes.
std::set<std::size_t> equals_outside_of_functions(const Tokens& tokens) {
  std::set<std::size_t> found;
  for_each_statement(tokens, [&](const Statement& statement) {
    if (statement.is_definition && statement.first < statement.end) found.insert(statement.end - 1);
  });
  return found;
}

}  // namespace

Edits zero_variable_arrays(const SourceText& source) {
  const std::string_view text = source.text();
  if (text.find("] = {") == text.npos && text.find("]={") == text.npos) return {};
  const Tokens& tokens = source.code();
  const std::set<std::size_t> constant = equals_outside_of_functions(tokens);
  Edits edits;
  for (std::size_t at = 1; at + 2 < tokens.size(); ++at) {
    if (!are_next(tokens, at - 1, {"]", "=", "{"}) || constant.contains(at)) continue;
    const std::size_t open = tokens[at + 1].at, close = text.find('}', open);
    if (close == text.npos || !is_zero(text.substr(open + 1, close - open - 1))) continue;
    if (!text.substr(after_spaces(text, close + 1)).starts_with(';')) continue;
    const auto name = variable_array(tokens, at);
    if (!name) continue;
    const std::size_t begin = tokens[at - 1].end();
    edits.push_back(
        {begin, close + 1 - begin, fmt::format("; __builtin_memset({0}, 0, sizeof({0}))", *name)});
  }
  return edits;
}

}  // namespace rung::emu
