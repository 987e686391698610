#include "emu/compile/source/enclosing_statement.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "emu/compile/source/tokens.hpp"

namespace rung::emu {
namespace {

/// Tokens [first, end).
struct Part {
  std::size_t first, end;
};

/// The line of each token.
std::vector<int> lines_of(std::string_view text, const Tokens& tokens) {
  std::vector<int> lines;
  int line = 1;
  std::size_t at = 0;
  for (const Token& token : tokens) {
    line +=
        static_cast<int>(std::count(text.begin() + static_cast<std::ptrdiff_t>(at),
                                    text.begin() + static_cast<std::ptrdiff_t>(token.at), '\n'));
    at = token.at;
    lines.push_back(line);
  }
  return lines;
}

std::size_t after_braces(const Tokens& tokens, std::size_t open) {
  int depth = 0;
  for (std::size_t at = open; at < tokens.size(); ++at) {
    depth += tokens[at].text == "{" ? 1 : tokens[at].text == "}" ? -1 : 0;
    if (depth == 0) return at + 1;
  }
  return tokens.size();
}

bool is_control(std::string_view word) { return word == "if" || word == "for" || word == "while"; }

std::size_t after_statement(const Tokens& tokens, std::size_t at);

/// The end of the statement that `if (…)` or a loop whose keyword is at `at` controls, with its else.
std::size_t after_control(const Tokens& tokens, std::size_t at) {
  while (at < tokens.size() && tokens[at].text != "(") ++at;
  const std::size_t body = after_parentheses(tokens, at).value_or(tokens.size());
  const std::size_t end = after_statement(tokens, body);
  const bool has_else = end < tokens.size() && tokens[end].text == "else";
  return has_else ? after_statement(tokens, end + 1) : end;
}

/// The end of the statement that begins at `at`.
std::size_t after_statement(const Tokens& tokens, std::size_t at) {
  if (at >= tokens.size()) return tokens.size();
  if (tokens[at].text == "{") return after_braces(tokens, at);
  if (is_control(tokens[at].text)) return after_control(tokens, at);
  int depth = 0;
  for (; at < tokens.size(); ++at) {
    const std::string_view text = tokens[at].text;
    depth += text == "(" || text == "{" ? 1 : text == ")" || text == "}" ? -1 : 0;
    if (depth == 0 && text == ";") return at + 1;
  }
  return tokens.size();
}

bool contains(const Tokens& tokens, Part part, std::string_view word) {
  return std::any_of(tokens.begin() + static_cast<std::ptrdiff_t>(part.first),
                     tokens.begin() + static_cast<std::ptrdiff_t>(part.end),
                     [&](const Token& token) { return token.text == word; });
}

/// True for names such as __syncthreads, __shfl_down_sync and barrier.
bool synchronizes(std::string_view word) {
  return word.find("sync") != word.npos || word.find("barrier") != word.npos ||
         word.find("shfl") != word.npos || word.find("SYNC") != word.npos;
}

/// True if the part has what synchronizes on this line or, if nothing is seen to, any token of it.
bool has_line(const Tokens& tokens, const std::vector<int>& lines, Part part, int line) {
  const auto begin = std::lower_bound(lines.begin(), lines.end(), line) - lines.begin();
  const auto end = std::upper_bound(lines.begin(), lines.end(), line) - lines.begin();
  bool any = false, any_sync = false, sync_inside = false;
  for (auto at = static_cast<std::size_t>(begin); at < static_cast<std::size_t>(end); ++at) {
    const bool inside = at >= part.first && at < part.end;
    any = any || inside;
    if (!synchronizes(tokens[at].text)) continue;
    any_sync = true;
    sync_inside = sync_inside || inside;
  }
  return any_sync ? sync_inside : any;
}

}  // namespace

bool encloses(std::string_view text, int condition, int line) {
  const Tokens tokens = tokens_of(text);
  const std::vector<int> lines = lines_of(text, tokens);
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    if (!is_control(tokens[at].text) || lines[at] > condition) continue;
    std::size_t open = at + 1;
    if (open < tokens.size() && tokens[open].text == "constexpr") ++open;
    if (open >= tokens.size() || tokens[open].text != "(") continue;
    const std::size_t body = after_parentheses(tokens, open).value_or(tokens.size());
    if (body >= tokens.size() || lines[body - 1] < condition) continue;
    const Part then{body, after_statement(tokens, body)};
    Part otherwise{then.end, then.end};
    if (then.end < tokens.size() && tokens[then.end].text == "else") {
      otherwise = {then.end + 1, after_statement(tokens, then.end + 1)};
    }
    const bool in_then = has_line(tokens, lines, then, line);
    const bool in_else = has_line(tokens, lines, otherwise, line);
    if (in_then && !contains(tokens, otherwise, "return")) return true;
    if (in_else && !contains(tokens, then, "return")) return true;
  }
  return false;
}

}  // namespace rung::emu
