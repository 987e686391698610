#pragma once
// Kinds of characters of a C++ source, and where what they make up ends.

#include <cctype>
#include <cstddef>
#include <string_view>

namespace rung::emu {

inline bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

/// Of a name or number.
inline bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Behind the spaces that begin at `at`.
inline std::size_t behind_spaces(std::string_view text, std::size_t at) {
  while (at < text.size() && is_space(text[at])) ++at;
  return at;
}

/// Behind the parenthesis that closes the one at `open`; npos if none does.
inline std::size_t behind_parentheses(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t at = open; at < text.size(); ++at) {
    depth += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
    if (depth == 0) return at + 1;
  }
  return text.npos;
}

}  // namespace rung::emu
