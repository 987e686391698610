#include "emu/compile/source/declared_targets.hpp"

#include <algorithm>
#include <optional>

#include "emu/compile/source/statements.hpp"

namespace rung::emu {
namespace {

/// By which a declaration and its definition are known to be the same function's.
std::string key_of(const Tokens& tokens, const Statement& statement, const Head& head) {
  std::string_view scope = statement.scope.name;
  if (head.name != head.own_name) {  // A::f, A<T>::f, n::f
    std::size_t at = head.own_name - 2;
    for (int depth = 0; at > head.name; --at) {
      depth += tokens[at].text == ">" ? 1 : tokens[at].text == "<" ? -1 : 0;
      if (depth == 0 && tokens[at].text != "<") break;
    }
    scope = tokens[at].text;
  }
  std::string key = std::string(scope) + "::";
  for (std::size_t at = head.own_name; at < head.open; ++at) key += tokens[at].text;
  return key + '(' + parameter_types(tokens, head);
}

/// Where the function's name begins that `template float f<float>(float);` instantiates; `end` if the
/// statement is something else.
std::size_t instantiated_name(const Tokens& tokens, const Statement& statement) {
  std::size_t at = statement.first;
  if (at < statement.end && tokens[at].text == "extern") ++at;
  if (statement.is_definition || at + 1 >= statement.end || tokens[at].text != "template" ||
      tokens[at + 1].text == "<") {
    return statement.end;
  }
  for (int depth = 0; ++at < statement.end;) {
    const std::string_view text = tokens[at].text;
    depth += text == "<" ? 1 : text.starts_with('>') ? -static_cast<int>(text.size()) : 0;
    if (depth == 0 && text == "(") return first_of_name(tokens, at).value_or(statement.end);
  }
  return statement.end;
}

}  // namespace

DeclaredTargets::DeclaredTargets(const std::vector<std::string_view>& files) {
  for (const std::string_view text : files) note_macros(text);
  for (const std::string_view text : files) note_declarations(text);
}

void DeclaredTargets::note_macros(std::string_view text) {
  constexpr std::string_view define = "#define ";
  for (std::size_t at = 0; (at = text.find(define, at)) != text.npos;) {
    at += define.size();
    const std::string_view line = text.substr(at, text.find('\n', at) - at);
    if (line.find("__device__") == line.npos || line.find('(') != line.npos) continue;
    macros_.emplace_back(line.substr(0, line.find_first_of(" \t")));
  }
}

bool DeclaredTargets::is_target(std::string_view word) const {
  return word == "__host__" || word == "__device__" || word == "__global__" ||
         std::find(macros_.begin(), macros_.end(), word) != macros_.end();
}

void DeclaredTargets::note_declarations(std::string_view text) {
  const Tokens tokens = tokens_of(text);
  for_each_statement(tokens, [&](const Statement& statement) {
    Statement rest = statement;
    rest.first = after_template(tokens, statement);
    const std::optional<Head> head = head_of(tokens, rest);
    if (!head || head->name != head->own_name) return;
    std::string found;
    for (std::size_t at = rest.first; at < head->name; ++at) {
      if (is_target(tokens[at].text)) found.append(tokens[at].text).append(" ");
    }
    if (rest.first > statement.first) note_template(tokens[head->own_name].text, found);
    if (statement.is_definition) return;
    // nvcc does not take a kernel for another function's definition either.
    if (found.find("__global__") != found.npos) found.clear();
    const auto [words, is_new] = words_.try_emplace(key_of(tokens, statement, *head), found);
    if (!is_new && words->second != found) words->second.clear();
  });
}

void DeclaredTargets::note_template(std::string_view name, const std::string& words) {
  const auto [known, is_new] = template_words_.try_emplace(std::string(name), words);
  if (!is_new && known->second != words) known->second.clear();
}

Edits DeclaredTargets::repeat_in(const SourceText& source) const {
  const Tokens& tokens = source.code();
  Edits edits;
  const auto put = [&](std::size_t token, const std::string& words) {
    edits.push_back({tokens[token].at, 0, words});
  };
  const auto has_target = [&](std::size_t first, std::size_t end) {
    return std::any_of(tokens.begin() + static_cast<std::ptrdiff_t>(first),
                       tokens.begin() + static_cast<std::ptrdiff_t>(end),
                       [&](const Token& token) { return is_target(token.text); });
  };
  for_each_statement(tokens, [&](const Statement& statement) {
    if (statement.scope.is_class) return;
    const std::size_t instantiated = instantiated_name(tokens, statement);
    if (instantiated < statement.end && !has_target(statement.first, instantiated)) {
      std::size_t own = instantiated;  // after its namespaces
      while (own + 2 < statement.end && tokens[own + 1].text == "::") own += 2;
      const auto words = template_words_.find(tokens[own].text);
      if (words != template_words_.end() && !words->second.empty())
        put(instantiated, words->second);
      return;
    }
    if (!statement.is_definition) return;
    const std::optional<Head> head = head_of(tokens, statement);
    if (!head || has_target(statement.first, head->name)) return;
    const auto words = words_.find(key_of(tokens, statement, *head));
    if (words != words_.end() && !words->second.empty()) put(head->name, words->second);
  });
  return edits;
}

}  // namespace rung::emu
