#pragma once
// The tokens of a preprocessed Metal file.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rung::emu::metal {

enum class TokenKind : std::uint8_t { space, directive, word, number, literal, symbol };

struct Token {
  TokenKind kind;
  std::string text;  // passes change it; the number of tokens stays
  int line = 0;      // in its file
  int file = 0;      // index in Tokens::files

  bool is(std::string_view other) const { return text == other && kind != TokenKind::literal; }
};

struct Tokens {
  std::vector<Token> all;
  std::vector<std::string> files;
};

/// `text` is the output of `clang -E`. Brackets and angle brackets are single tokens.
Tokens split_tokens(std::string_view text);

}  // namespace rung::emu::metal
