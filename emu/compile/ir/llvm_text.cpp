#include "emu/compile/ir/llvm_text.hpp"

#include <algorithm>

namespace rung::emu {

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::vector<std::string_view> split_list(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 1;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    depth += c == '(' || c == '{' ? 1 : c == ')' || c == '}' ? -1 : 0;
    if (depth > 0 && (depth > 1 || c != ',')) continue;
    parts.push_back(text.substr(begin, at - begin));
    if (depth == 0) break;
    begin = std::min(text.find_first_not_of(' ', at + 1), text.size());
  }
  return parts;
}

}  // namespace rung::emu
