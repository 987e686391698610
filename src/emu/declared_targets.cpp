#include "emu/declared_targets.hpp"

#include <algorithm>
#include <optional>

#include "emu/statements.hpp"

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
    if (statement.is_definition) return;
    const std::optional<Head> head = head_of(tokens, statement);
    if (!head || head->name != head->own_name) return;
    std::string found;
    for (std::size_t at = statement.first; at < head->name; ++at) {
      if (is_target(tokens[at].text)) found.append(tokens[at].text).append(" ");
    }
    // nvcc does not take a kernel for another function's definition either.
    if (found.find("__global__") != found.npos) found.clear();
    const auto [words, is_new] = words_.try_emplace(key_of(tokens, statement, *head), found);
    if (!is_new && words->second != found) words->second.clear();
  });
}

std::string DeclaredTargets::repeat_in(const std::string& text) const {
  const Tokens tokens = tokens_of(text);
  std::string result;
  std::size_t rest = 0;
  for_each_statement(tokens, [&](const Statement& statement) {
    if (!statement.is_definition || statement.scope.is_class) return;
    const std::optional<Head> head = head_of(tokens, statement);
    if (!head) return;
    for (std::size_t at = statement.first; at < head->name; ++at) {
      if (is_target(tokens[at].text)) return;
    }
    const auto words = words_.find(key_of(tokens, statement, *head));
    if (words == words_.end() || words->second.empty()) return;
    const std::size_t begin = tokens[head->name].at;
    result.append(text, rest, begin - rest).append(words->second);
    rest = begin;
  });
  return result.append(text, rest);
}

}  // namespace rung::emu
