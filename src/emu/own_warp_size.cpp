#include "emu/own_warp_size.hpp"

#include <algorithm>
#include <string_view>

#include "emu/characters.hpp"

namespace rung::emu {
namespace {

constexpr std::string_view warp_size_name = "warpSize",
                           own_warp_size_name = "rung_emu_own_warp_size";

/// Where the name stands next as a word; npos if nowhere.
std::size_t find_name(std::string_view text, std::size_t from) {
  for (std::size_t at = from; (at = text.find(warp_size_name, at)) != text.npos;
       at += warp_size_name.size()) {
    const std::size_t end = at + warp_size_name.size();
    const bool begins = at == 0 || !is_word(text[at - 1]);
    if (begins && (end == text.size() || !is_word(text[end]))) return at;
  }
  return text.npos;
}

/// Whether as many braces close before `end` as open.
bool is_outside_of_braces(std::string_view text, std::size_t end) {
  int depth = 0;
  for (std::size_t at = 0; at < end;) {
    const std::size_t next = behind_comment_or_literal(text, at);
    if (next == at) depth += text[at] == '{' ? 1 : text[at] == '}' ? -1 : 0;
    at = std::max(next, at + 1);
  }
  return depth == 0;
}

/// `int warpSize = ` or the like.
bool is_definition(std::string_view text, std::size_t at) {
  std::size_t before = at;
  while (before > 0 && is_space(text[before - 1])) --before;
  if (before == at || before == 0 || !is_word(text[before - 1])) return false;
  const std::size_t behind = behind_spaces(text, at + warp_size_name.size());
  const char next = behind < text.size() ? text[behind] : ';';
  return next == '=' || next == '{' || next == '(';
}

bool is_member(std::string_view text, std::size_t at) {
  while (at > 0 && is_space(text[at - 1])) --at;
  return at > 0 && (text[at - 1] == '.' || text.substr(0, at).ends_with("->"));
}

}  // namespace

std::string rename_own_warp_size(const std::string& text) {
  bool is_defined = false;
  for (std::size_t at = 0; !is_defined && (at = find_name(text, at)) != text.npos;
       at += warp_size_name.size()) {
    is_defined = is_definition(text, at) && is_outside_of_braces(text, at);
  }
  if (!is_defined) return text;
  std::string renamed;
  std::size_t rest = 0;
  for (std::size_t at = 0; (at = find_name(text, at)) != text.npos; at += warp_size_name.size()) {
    if (is_member(text, at)) continue;
    renamed.append(text, rest, at - rest).append(own_warp_size_name);
    rest = at + warp_size_name.size();
  }
  return renamed.append(text, rest);
}

}  // namespace rung::emu
