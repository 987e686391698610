// Passes over declarations.

#include <algorithm>
#include <array>
#include <set>

#include "emu/compile/source/characters.hpp"
#include "emu/compile/source/passes.hpp"

namespace rung::emu {
namespace {

template <std::size_t COUNT>
bool is_any(std::string_view text, const std::array<std::string_view, COUNT>& words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

/// The token after the list of template arguments that begins at `at`; `at` if it does not end.
std::size_t after_arguments(const Tokens& tokens, std::size_t at) {
  int depth = 0;
  for (std::size_t end = at; end < tokens.size(); ++end) {
    const std::string_view text = tokens[end].text;
    if (text == ";" || text == "{") break;
    if (text == "(") {
      const auto close = after_parentheses(tokens, end);
      if (!close) break;
      end = *close - 1;
      continue;
    }
    if (text.starts_with('<')) depth += static_cast<int>(text.size());
    if (text.starts_with('>')) depth -= static_cast<int>(text.size());
    if (depth <= 0) return end + 1;
  }
  return at;
}

/// The first of the words `extern`, `static` and those for memories before `at`; `at` if none of them names
/// a memory.
std::size_t first_specifier(const Tokens& tokens, std::size_t at) {
  constexpr std::array<std::string_view, 6> specifiers = {
      "extern", "static", "__shared__", "__device__", "__constant__", "__managed__"};
  std::size_t first = at;
  bool names_memory = false;
  for (; first > 0 && is_any(tokens[first - 1].text, specifiers); --first) {
    names_memory = names_memory || tokens[first - 1].text.starts_with("__");
  }
  return names_memory ? first : at;
}

/// Inserts `template` in the name that begins at `at`, after each list of arguments that another follows.
/// Returns the token after the name.
std::size_t name_templates(const Tokens& tokens, std::size_t at, Edits& edits) {
  bool is_dependent = false;  // after a list of arguments
  while (at < tokens.size()) {
    const std::size_t name = at;
    const bool has_name = is_word(tokens[name].text[0]);
    if (has_name) ++at;
    if (has_name && tokens[name].text == "template") {
      is_dependent = false;
      continue;
    }
    if (has_name && are_next(tokens, at, {"<"})) {
      const std::size_t end = after_arguments(tokens, at);
      if (end == at) break;
      if (is_dependent) edits.push_back({tokens[name].at, 0, "template "});
      is_dependent = true;
      at = end;
    }
    if (!are_next(tokens, at, {"::"})) break;
    ++at;
  }
  return at;
}

}  // namespace

Edits drop_late_attributes(const SourceText& source) {
  constexpr std::array<std::string_view, 5> specifiers = {"__device__", "__host__", "__global__",
                                                          "__forceinline__", "__noinline__"};
  const Tokens& tokens = source.tokens();
  const auto are_joined = [&](std::size_t at, std::string_view bracket) {
    return are_next(tokens, at, {bracket, bracket}) && tokens[at].end() == tokens[at + 1].at;
  };
  Edits edits;
  for (std::size_t at = 1; at < tokens.size(); ++at) {
    if (!are_joined(at, "[") || !is_any(tokens[at - 1].text, specifiers)) continue;
    std::size_t close = at;
    while (close < tokens.size() && !are_joined(close, "]")) ++close;
    if (close == tokens.size()) break;
    std::string blanks(source.between(at, close + 2));
    std::replace_if(blanks.begin(), blanks.end(), [](char c) { return c != '\n'; }, ' ');
    edits.push_back({tokens[at].at, blanks.size(), blanks});
  }
  return edits;
}

namespace {

/// The names of the source's template parameters that are types.
std::set<std::string_view> type_parameters(const Tokens& tokens) {
  constexpr std::array<std::string_view, 3> ends = {",", ">", "="};
  std::set<std::string_view> names;
  for (std::size_t at = 0; at + 2 < tokens.size(); ++at) {
    const bool is_type = tokens[at].text == "typename" || tokens[at].text == "class";
    if (is_type && is_any(tokens[at + 2].text, ends)) names.insert(tokens[at + 1].text);
  }
  return names;
}

/// True if T::name<arguments>( begins at `at`, with T a type parameter.
bool is_dependent_call(const Tokens& tokens, std::size_t at,
                       const std::set<std::string_view>& parameters) {
  if (!are_next(tokens, at + 1, {"::"}) || !parameters.contains(tokens[at].text)) return false;
  if (!are_next(tokens, at + 3, {"<"}) || tokens[at + 2].text == "template") return false;
  const std::size_t end = after_arguments(tokens, at + 3);
  return end != at + 3 && are_next(tokens, end, {"("});
}

}  // namespace

Edits name_dependent_templates(const SourceText& source) {
  const Tokens& tokens = source.tokens();
  const std::set<std::string_view> parameters = type_parameters(tokens);
  Edits edits;
  for (std::size_t at = 0; at < tokens.size();) {
    if (is_dependent_call(tokens, at, parameters)) {
      edits.push_back({tokens[at + 2].at, 0, "template "});
    }
    at = tokens[at].text == "typename" ? name_templates(tokens, at + 1, edits) : at + 1;
  }
  return edits;
}

Edits lead_with_alignas(const SourceText& source) {
  const Tokens& tokens = source.tokens();
  Edits edits;
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    if (!are_next(tokens, at, {"alignas", "("})) continue;
    const auto end = after_parentheses(tokens, at + 1);
    if (!end) break;
    const std::size_t first = first_specifier(tokens, at);
    if (first == at) continue;
    const std::string clause(source.between(at, *end));
    edits.push_back({tokens[first].at, 0, clause + " "});
    edits.push_back({tokens[at].at, clause.size(), ""});
    at = *end - 1;
  }
  return edits;
}

}  // namespace rung::emu
