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

}  // namespace

std::string forbidden_words(const Source& source) {
  for (std::size_t at = 0; at < source.size(); ++at) {
    if (!source.is(at, "throw") && !source.is(at, "try")) continue;
    if (source.scope(at) != Source::Scope::function) continue;
    return source.file(at) + ":" + std::to_string(source[at].line) +
           ": error: Metal has no exceptions\n";
  }
  return {};
}

void rewrite_literals(Source& source) {
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
