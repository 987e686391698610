#include "emu/tokens.hpp"

#include <algorithm>

#include "emu/characters.hpp"

namespace rung::emu {
namespace {

/// Where something that begins at `at` and is no token of interest ends: blanks, comments, literals,
/// directives. `at` itself if there is none.
std::size_t skipped(std::string_view text, std::size_t at, bool at_line_begin) {
  if (is_space(text[at])) return at + 1;
  if (text[at] == '#' && at_line_begin) return behind_directive(text, at);
  return behind_comment_or_literal(text, at);
}

}  // namespace

std::vector<Token> tokens_of(std::string_view text) {
  std::vector<Token> tokens;
  bool at_line_begin = true;
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t next = skipped(text, at, at_line_begin); next > at) {
      at_line_begin = text[next - 1] == '\n' || (at_line_begin && is_space(text[at]));
      at = next;
      continue;
    }
    at_line_begin = false;
    std::size_t end = at + 1;
    if (is_word(text[at])) {
      // 1'000'000 is one number.
      const bool is_number = text[at] >= '0' && text[at] <= '9';
      while (end < text.size() && (is_word(text[end]) || (is_number && text[end] == '\''))) ++end;
    } else if (text.substr(at).starts_with("<<<") || text.substr(at).starts_with(">>>")) {
      end = at + 3;
    } else if (text.substr(at).starts_with("::")) {
      end = at + 2;
    }
    tokens.push_back({at, text.substr(at, end - at)});
    at = end;
  }
  return tokens;
}

std::optional<std::size_t> first_of_name(const std::vector<Token>& tokens, std::size_t end) {
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
