#include "emu/compile/source/tokens.hpp"

#include <algorithm>
#include <iterator>

#include "emu/compile/source/characters.hpp"

namespace rung::emu {
namespace {

/// The end of the word, number or symbol at `at`.
std::size_t token_end(std::string_view text, std::size_t at) {
  std::size_t end = at + 1;
  if (is_word(text[at])) {
    // 1'000'000 is one number.
    const bool is_number = text[at] >= '0' && text[at] <= '9';
    while (end < text.size() && (is_word(text[end]) || (is_number && text[end] == '\''))) ++end;
    return end;
  }
  const std::string_view rest = text.substr(at);
  if (rest.starts_with("<<<") || rest.starts_with(">>>")) return at + 3;
  return rest.starts_with("::") ? at + 2 : end;
}

}  // namespace

Tokens all_tokens(std::string_view text) {
  Tokens tokens;
  bool at_line_begin = true;
  std::size_t directive_end = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (at_line_begin && at >= directive_end && text[at] == '#') {
      directive_end = after_directive(text, at);
    }
    const bool in_directive = at < directive_end;
    if (is_space(text[at])) {
      at_line_begin = at_line_begin || text[at] == '\n';
      ++at;
      continue;
    }
    std::size_t end = after_comment_or_literal(text, at);
    const bool is_comment = end > at && text[at] == '/', is_literal = end > at && !is_comment;
    if (end == at) end = token_end(text, at);
    if (in_directive) end = std::min(end, directive_end);
    if (!is_comment) tokens.push_back({at, text.substr(at, end - at), is_literal, in_directive});
    at_line_begin = text[end - 1] == '\n';
    at = end;
  }
  return tokens;
}

Tokens code_tokens(const Tokens& all) {
  Tokens code;
  std::copy_if(all.begin(), all.end(), std::back_inserter(code),
               [](const Token& token) { return !token.is_literal && !token.in_directive; });
  return code;
}

bool are_next(const Tokens& tokens, std::size_t at, std::initializer_list<std::string_view> texts) {
  for (const std::string_view text : texts) {
    if (at >= tokens.size() || tokens[at].is_literal || tokens[at].text != text) return false;
    ++at;
  }
  return true;
}

std::optional<std::size_t> after_parentheses(const Tokens& tokens, std::size_t open) {
  int depth = 0;
  for (std::size_t at = open; at < tokens.size(); ++at) {
    depth += tokens[at].text == "(" ? 1 : tokens[at].text == ")" ? -1 : 0;
    if (depth == 0) return at + 1;
  }
  return std::nullopt;
}

std::optional<std::size_t> first_of_name(const Tokens& tokens, std::size_t end) {
  std::size_t at = end;
  const auto back_over_arguments = [&] {
    if (at == 0 || !tokens[at - 1].text.starts_with('>')) return;
    int depth = 0, parentheses = 0;
    do {
      const std::string_view text = tokens[--at].text;
      parentheses += text == ")" ? 1 : text == "(" ? -1 : 0;
      if (parentheses != 0) continue;  // there, > compares
      if (text.starts_with('>')) depth += static_cast<int>(text.size());
      if (text == "<") --depth;
    } while (at > 0 && (depth > 0 || parentheses > 0));
  };
  for (;;) {
    back_over_arguments();
    if (at == 0 || !is_word(tokens[at - 1].text[0])) return std::nullopt;
    --at;
    if (at == 0 || tokens[at - 1].text != "::") return at;
    --at;
    if (at == 0 || (!is_word(tokens[at - 1].text[0]) && tokens[at - 1].text[0] != '>')) return at;
  }
}

}  // namespace rung::emu
