#include <algorithm>
#include <string>
#include <string_view>

#include "emu/compile/metal/passes.hpp"

namespace rung::emu::metal {
namespace {

bool ends_with_any(std::string_view text, std::initializer_list<std::string_view> ends) {
  return std::ranges::any_of(ends, [&](std::string_view end) { return text.ends_with(end); });
}

std::string typed(std::string_view type, std::string_view digits) {
  const bool is_integer = digits.find_first_of(".eE") == digits.npos;
  return "((" + std::string(type) + ")" + std::string(digits) + (is_integer ? ".0f)" : "f)");
}

/// True for the first of the string literals that are an argument of a call.
bool is_text_argument(const Source& source, std::size_t at) {
  if (source[at].kind != TokenKind::literal) return false;
  if (!source[at].text.starts_with('"') || source.scope(at) != Source::Scope::function)
    return false;
  const std::size_t open = source.around(at), before = source.previous(at);
  if (!source.is(open, "(") || (!source.is(before, "(") && !source.is(before, ","))) return false;
  const std::size_t name = source.previous(open);
  return source.is_word(name) && !source.is(name, "static_assert") && !source.is(name, "asm") &&
         !source.is(name, "__asm__") && !source.is(name, "__attribute__");
}

/// String literals are in constant memory.
void rewrite_texts(Source& source) {
  for (std::size_t at = 0; at < source.size(); ++at) {
    if (!is_text_argument(source, at)) continue;
    std::size_t last = at;
    while (source.next(last) < source.size() &&
           source[source.next(last)].kind == TokenKind::literal) {
      last = source.next(last);
    }
    source[at].text.insert(0, "((constant char*)");
    source[last].text += ")";
  }
}

}  // namespace

void remove_unroll_counts(Source& source) {
  for (std::size_t at = 0; at < source.size(); ++at) {
    const std::string_view text = source[at].text;
    if (source[at].kind != TokenKind::directive || !text.starts_with("#pragma")) continue;
    const std::size_t word = text.find("unroll"), open = text.find('(', word);
    if (word == text.npos || open == text.npos) continue;
    const std::string_view count = text.substr(open + 1, text.rfind(')') - open - 1);
    const bool is_mode = count == "full" || count == "enable" || count == "disable";
    const bool has_name = count.find_first_not_of("0123456789uU ") != count.npos;
    if (has_name && !is_mode) source[at].text.clear();
  }
}

void rewrite_literals(Source& source) {
  rewrite_texts(source);
  for (std::size_t at = 0; at < source.size(); ++at) {
    Token& token = source[at];
    if (token.kind != TokenKind::number) continue;
    const std::string_view text = token.text;
    if (text.starts_with("0x") || text.starts_with("0X")) continue;
    if (ends_with_any(text, {"bf", "BF"})) {
      token.text = typed("bfloat", text.substr(0, text.size() - 2));
    } else if (ends_with_any(text, {"h", "H"})) {
      token.text = typed("half", text.substr(0, text.size() - 1));
    } else if (text.find_first_of(".eE") != text.npos &&
               !ends_with_any(text, {"f", "F", "l", "L"})) {
      token.text += 'f';
    }
  }
}

}  // namespace rung::emu::metal
