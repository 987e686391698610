#include "emu/compile/source/kernel_parameters.hpp"

#include "emu/compile/source/characters.hpp"
#include "emu/compile/source/tokens.hpp"

namespace rung::emu {
namespace {

/// +1 for an opening bracket, -1 for a closing one. Angle brackets count: parameters have no comparisons.
int depth_of(std::string_view token) {
  if (token == "(" || token == "[" || token == "{" || token == "<") return 1;
  return token == ")" || token == "]" || token == "}" || token == ">" ? -1 : 0;
}

/// The last word before the default value or the extent, at tokens [at, end).
std::string name_in(const Tokens& tokens, std::size_t at, std::size_t end) {
  std::string name;
  for (int depth = 0; at < end && tokens[at].text != "="; ++at) {
    const std::string_view token = tokens[at].text;
    if (depth == 0 && token == "[") break;
    depth += depth_of(token);
    if (depth == 0 && is_word(token[0])) name = token;
  }
  return name;
}

}  // namespace

std::string parameter_name(std::string_view text, std::string_view function, std::size_t index) {
  const Tokens tokens = tokens_of(text);
  for (std::size_t at = 0; at + 1 < tokens.size(); ++at) {
    if (tokens[at].text != function || tokens[at + 1].text != "(") continue;
    const auto end = after_parentheses(tokens, at + 1);
    if (!end || *end == tokens.size() || tokens[*end].text != "{") continue;
    std::size_t first = at + 2, number = 0;
    int depth = 0;
    for (std::size_t i = first; i < *end; ++i) {
      const bool is_end = i + 1 == *end || (depth == 0 && tokens[i].text == ",");
      if (is_end && number++ == index) return name_in(tokens, first, i);
      if (is_end) first = i + 1;
      depth += depth_of(tokens[i].text);
    }
  }
  return {};
}

}  // namespace rung::emu
