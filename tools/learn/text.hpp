#pragma once

#include <string_view>
#include <vector>

namespace rung::learn {

/// The lines of a text, without line ends.
inline std::vector<std::string_view> lines(std::string_view text) {
  std::vector<std::string_view> found;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    found.push_back(text.substr(0, end));
    text = end == text.npos ? std::string_view() : text.substr(end + 1);
  }
  return found;
}

}  // namespace rung::learn
