#include "tools/kernel_file/file_name.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace rung {
namespace {

constexpr std::array<std::string_view, 2> suffixes = {".cu", ".metal"};

}  // namespace

std::pair<std::string, std::string> split_path(const std::string& path) {
  for (const std::string_view suffix : suffixes) {
    const std::size_t at = path.rfind(std::string(suffix) + ":");
    if (at == path.npos) continue;
    const std::size_t colon = at + suffix.size();
    return {path.substr(0, colon), path.substr(colon + 1)};
  }
  return {path, ""};
}

bool names_kernel_file(const std::string& word) {
  const std::string path = split_path(word).first;
  return std::ranges::any_of(suffixes,
                             [&](std::string_view suffix) { return path.ends_with(suffix); });
}

}  // namespace rung
