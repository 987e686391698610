// The pass over a program's own warpSize.

#include "emu/compile/source/characters.hpp"
#include "emu/compile/source/passes.hpp"

namespace rung::emu {
namespace {

constexpr std::string_view warp_size_name = "warpSize";

/// True for `int warpSize = ` and the like.
bool is_definition(const Tokens& tokens, std::size_t at) {
  if (at == 0 || !is_word(tokens[at - 1].text[0])) return false;
  const std::string_view next = at + 1 < tokens.size() ? tokens[at + 1].text : ";";
  return next == "=" || next == "{" || next == "(";
}

bool is_member(const Tokens& tokens, std::size_t at) {
  if (at == 0) return false;
  return tokens[at - 1].text == "." || (at > 1 && are_next(tokens, at - 2, {"-", ">"}));
}

/// True if the file defines the name outside functions and classes.
bool defines_warp_size(const Tokens& tokens) {
  int depth = 0;
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    const std::string_view text = tokens[at].text;
    depth += text == "{" ? 1 : text == "}" ? -1 : 0;
    if (depth == 0 && text == warp_size_name && is_definition(tokens, at)) return true;
  }
  return false;
}

}  // namespace

Edits rename_own_warp_size(const SourceText& source) {
  const Tokens& tokens = source.tokens();
  if (!defines_warp_size(tokens)) return {};
  Edits edits;
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    if (tokens[at].text == warp_size_name && !is_member(tokens, at)) {
      edits.push_back({tokens[at].at, warp_size_name.size(), "rung_emu_own_warp_size"});
    }
  }
  return edits;
}

}  // namespace rung::emu
