#pragma once
// The tokens of a C++ source, without comments, literals and directives.

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace rung::emu {

struct Token {
  std::size_t at;  // in the text
  std::string_view text;
};

/// Words, numbers, `<<<`, `>>>`, `::`, and single characters. They refer to `text`.
std::vector<Token> tokens_of(std::string_view text);

/// The first token of `name`, `scope::name` or `name<arguments>`, which ends before token `end`.
std::optional<std::size_t> first_of_name(const std::vector<Token>& tokens, std::size_t end);

}  // namespace rung::emu
