#include "emu/compile/source/source_text.hpp"

#include <algorithm>
#include <utility>

namespace rung::emu {

std::string edited(std::string_view text, Edits edits) {
  std::stable_sort(edits.begin(), edits.end(),
                   [](const Edit& a, const Edit& b) { return a.at < b.at; });
  std::string result;
  std::size_t rest = 0;
  for (const Edit& each : edits) {
    result.append(text, rest, each.at - rest).append(each.text);
    rest = each.at + each.removed;
  }
  return result.append(text, rest);
}

std::string SourceText::lines(std::size_t begin, std::size_t end) const {
  const auto from = text_.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto to = text_.begin() + static_cast<std::ptrdiff_t>(end);
  return std::string(static_cast<std::size_t>(std::count(from, to, '\n')), '\n');
}

void SourceText::apply(Edits edits) {
  if (edits.empty()) return;
  text_ = edited(text_, std::move(edits));
  read();
}

void SourceText::read() {
  tokens_ = all_tokens(text_);
  code_ = code_tokens(tokens_);
}

}  // namespace rung::emu
