#include "emu/compile/source/statements.hpp"

#include <algorithm>
#include <array>

#include "emu/compile/source/characters.hpp"

namespace rung::emu {

std::size_t after_brackets(const Tokens& tokens, std::size_t open, std::size_t end) {
  int depth = 0;
  for (std::size_t at = open; at < end; ++at) {
    const std::string_view text = tokens[at].text;
    depth += text == "(" || text == "[" || text == "{"   ? 1
             : text == ")" || text == "]" || text == "}" ? -1
                                                         : 0;
    if (depth == 0) return at + 1;
  }
  return end;
}

namespace {

/// The class or namespace that a brace in `outer` opens; empty if it opens something else.
std::optional<Enclosing> opened_scope(const Tokens& tokens, std::size_t first, std::size_t brace,
                                      const Enclosing& outer) {
  std::optional<Enclosing> scope;
  int depth = 0;  // of template arguments
  for (std::size_t at = first; at < brace; ++at) {
    const std::string_view text = tokens[at].text;
    depth += text == "<" ? 1 : text == ">" ? -1 : 0;
    if (depth > 0) continue;
    if (text == "namespace") return Enclosing{at + 1 < brace ? tokens[brace - 1].text : "", false};
    if (text == "extern" && at + 1 == brace) return outer;
    if (text == "(" || text == "=") return std::nullopt;
    if ((text == "class" || text == "struct") && at + 1 < brace) {
      const bool is_aligned = at + 2 < brace && tokens[at + 2].text == "(";  // struct alignas(8) A
      if (is_aligned) at = after_brackets(tokens, at + 2, brace) - 1;
      if (at + 1 < brace) scope = {tokens[at + 1].text, true};
    }
  }
  return scope;
}

}  // namespace

void for_each_statement(const Tokens& tokens,
                        const std::function<void(const Statement&)>& statement) {
  std::vector<std::optional<Enclosing>> scopes = {Enclosing{"", false}};
  std::size_t first = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string_view token = tokens[i].text;
    if (token != "{" && token != "}" && token != ";") continue;
    if (scopes.back() && token != "}") statement({first, i, *scopes.back(), token == "{"});
    if (token == "{") {
      scopes.push_back(scopes.back() ? opened_scope(tokens, first, i, *scopes.back())
                                     : std::nullopt);
    } else if (token == "}" && scopes.size() > 1) {
      scopes.pop_back();
    }
    first = i + 1;
  }
}

std::optional<Head> head_of(const Tokens& tokens, const Statement& statement) {
  constexpr std::array<std::string_view, 5> others = {"__attribute__", "__launch_bounds__",
                                                      "alignas", "decltype", "explicit"};
  std::size_t open = statement.first, operator_at = statement.end;
  for (; open < statement.end; ++open) {
    const std::string_view text = tokens[open].text;
    if (text == "=" && operator_at == statement.end) return std::nullopt;
    if (text == "operator") operator_at = open;
    if (text != "(") continue;
    if (open == statement.first) return std::nullopt;
    const std::string_view before = tokens[open - 1].text;
    if (std::find(others.begin(), others.end(), before) != others.end()) {
      open = after_brackets(tokens, open, statement.end) - 1;
    } else if (before != "operator") {
      break;
    }
  }
  if (open >= statement.end) return std::nullopt;
  std::size_t own_name = operator_at != statement.end ? operator_at : open - 1;
  if (!is_word(tokens[own_name].text[0])) return std::nullopt;
  if (own_name > statement.first && tokens[own_name - 1].text == "~") --own_name;
  std::size_t name = own_name;
  if (own_name > statement.first && tokens[own_name - 1].text == "::") {
    name = first_of_name(tokens, own_name - 1).value_or(own_name);
  }
  return Head{name, own_name, open, after_brackets(tokens, open, statement.end) - 1};
}

std::size_t after_template(const Tokens& tokens, const Statement& statement) {
  std::size_t at = statement.first;
  if (at + 1 >= statement.end || tokens[at].text != "template" || tokens[at + 1].text != "<") {
    return at;
  }
  for (int depth = 0; ++at < statement.end;) {
    const std::string_view text = tokens[at].text;
    depth += text == "<" ? 1 : text.starts_with('>') ? -static_cast<int>(text.size()) : 0;
    if (depth <= 0) return at + 1;
  }
  return statement.first;
}

bool is_type_word(std::string_view word) {
  constexpr std::array<std::string_view, 11> types = {"int",   "float", "double",   "char",
                                                      "long",  "short", "unsigned", "bool",
                                                      "const", "void",  "class"};
  return std::find(types.begin(), types.end(), word) != types.end();
}

std::string parameter_types(const Tokens& tokens, const Head& head) {
  std::string all;
  std::vector<std::string_view> one;
  int depth = 0;
  bool is_value = false;
  for (std::size_t at = head.open + 1; at <= head.close; ++at) {
    const std::string_view text = tokens[at].text;
    depth += text == "(" || text == "<" ? 1 : (text == ")" || text == ">") && depth > 0 ? -1 : 0;
    if (depth == 0 && (text == "," || at == head.close)) {
      const auto is_named = one.size() > 1 && is_word(one.back()[0]) &&
                            one[one.size() - 2] != "::" && !is_type_word(one.back());
      if (is_named) one.pop_back();
      for (const std::string_view word : one) all.append(word).append(" ");
      all += ',';
      one.clear();
      is_value = false;
      continue;
    }
    is_value = is_value || (depth == 0 && text == "=");
    if (!is_value) one.push_back(text);
  }
  return all == "void ," ? "," : all;
}

}  // namespace rung::emu
