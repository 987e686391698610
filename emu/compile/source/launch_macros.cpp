#include "emu/compile/source/launch_macros.hpp"

#include <algorithm>

#include "emu/compile/source/characters.hpp"

namespace rung::emu {
std::vector<LaunchMacro> launch_macros(std::string_view text) {
  constexpr std::string_view define = "#define ";
  std::vector<LaunchMacro> found;
  for (std::size_t at = 0; (at = text.find(define, at)) != text.npos;) {
    const std::size_t name = after_spaces(text, at + define.size());
    std::size_t name_end = name;
    while (name_end < text.size() && is_word(text[name_end])) ++name_end;
    const std::size_t end = after_directive(text, at);
    std::size_t body = name_end;
    if (body < end && text[body] == '(') body = std::min(after_parentheses(text, body), end);
    at = end;
    const std::string_view content = text.substr(body, end - body);
    if (content.find("<<<") == content.npos) continue;
    found.push_back(
        {text.substr(name, name_end - name), text.substr(name_end, body - name_end), content, end});
  }
  return found;
}

}  // namespace rung::emu
