#pragma once
// Kinds of characters of a C++ source, and where what they make up ends; plain names of files.

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>

namespace rung::emu {

inline bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

/// True for a character of a name or number.
inline bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Behind the spaces that begin at `at`.
inline std::size_t after_spaces(std::string_view text, std::size_t at) {
  while (at < text.size() && is_space(text[at])) ++at;
  return at;
}

/// Where the directive that begins at `at` ends, with the lines that a backslash continues: at a line's end.
inline std::size_t after_directive(std::string_view text, std::size_t at) {
  std::size_t end = std::min(text.find('\n', at), text.size());
  const auto goes_on = [&] {
    const std::string_view line = text.substr(at, end - at);
    return line.ends_with('\\') || line.ends_with("\\\r");
  };
  while (end < text.size() && goes_on()) end = std::min(text.find('\n', end + 1), text.size());
  return end;
}

/// Behind the parenthesis that closes the one at `open`; npos if none does.
inline std::size_t after_parentheses(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t at = open; at < text.size(); ++at) {
    depth += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
    if (depth == 0) return at + 1;
  }
  return text.npos;
}

/// The end of the comment or literal that begins at `at`: the line's end, or after the mark that closes
/// it. `at` if neither begins there.
inline std::size_t after_comment_or_literal(std::string_view text, std::size_t at) {
  const auto behind = [&](std::string_view end, std::size_t from) {
    const std::size_t found = text.find(end, from);
    return found == text.npos ? text.size() : found + end.size();
  };
  const std::string_view rest = text.substr(at);
  if (rest.starts_with("//")) return std::min(text.find('\n', at), text.size());
  if (rest.starts_with("/*")) return behind("*/", at + 2);
  if (rest.starts_with("R\"")) {
    const std::size_t open = text.find('(', at);
    if (open == text.npos) return text.size();
    return behind(")" + std::string(text.substr(at + 2, open - at - 2)) + "\"", open);
  }
  // 1'000 has no literal.
  const bool begins = rest[0] == '"' || (rest[0] == '\'' && (at == 0 || !is_word(text[at - 1])));
  if (!begins) return at;
  std::size_t end = at + 1;
  while (end < text.size() && text[end] != rest[0]) end += text[end] == '\\' ? 2 : 1;
  return std::min(end + 1, text.size());
}

/// True for the name of a file that no tool misreads: no option, without spaces, quotes and others.
inline bool is_plain_name(std::string_view name) {
  return !name.empty() && !name.starts_with('-') &&
         name.find_first_not_of(
             "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
             "0123456789_-.+") == name.npos;
}

}  // namespace rung::emu
