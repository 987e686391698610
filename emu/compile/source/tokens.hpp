#pragma once
// The tokens of a C++ source.

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

namespace rung::emu {

struct Token {
  std::size_t at;  // in the text
  std::string_view text;
  bool is_literal = false;    // a string or a character, with its quotes
  bool in_directive = false;  // #define and the like, with continued lines

  std::size_t end() const { return at + text.size(); }
};

using Tokens = std::vector<Token>;

/// Words, numbers, literals, `<<<`, `>>>`, `::` and single characters, in order. Comments and blanks
/// separate tokens. Tokens refer to `text`.
Tokens all_tokens(std::string_view text);

/// Tokens outside directives, without literals.
Tokens code_tokens(const Tokens& all);
inline Tokens tokens_of(std::string_view text) { return code_tokens(all_tokens(text)); }

/// True if the tokens from `at` on are these.
bool are_next(const Tokens& tokens, std::size_t at, std::initializer_list<std::string_view> texts);

/// The token after the parenthesis that closes the one at `open`, which may be the end; empty if none does.
std::optional<std::size_t> after_parentheses(const Tokens& tokens, std::size_t open);

/// The first token of `name`, `scope::name` or `name<arguments>`, which ends before token `end`.
std::optional<std::size_t> first_of_name(const Tokens& tokens, std::size_t end);

}  // namespace rung::emu
