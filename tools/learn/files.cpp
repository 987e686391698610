// The files embedded by the build.

#include <algorithm>
#include <array>

#include "core/embed.hpp"
#include "tools/learn/exercise.hpp"

// RUNG_EMBED(symbol, path) for each file, and the table of their paths and contents.
#include "learn/embedded_files.inc"

namespace rung::learn {
namespace {

const auto& files() {
  static const std::array all = {RUNG_LEARN_FILES};
  return all;
}

bool is_header(std::string_view path) { return path.ends_with(".cuh"); }

}  // namespace

std::string_view embedded_file(std::string_view path) {
  const auto found = std::find_if(files().begin(), files().end(),
                                  [&](const Header& file) { return file.path == path; });
  return found == files().end() ? std::string_view() : found->text;
}

std::vector<Header> headers() {
  std::vector<Header> found;
  std::copy_if(files().begin(), files().end(), std::back_inserter(found),
               [](const Header& file) { return is_header(file.path); });
  return found;
}

std::vector<std::string_view> exercise_folders() {
  constexpr std::string_view name = "/exercise.txt";
  std::vector<std::string_view> folders;
  for (const Header& file : files()) {
    if (!file.path.ends_with(name)) continue;
    folders.push_back(file.path.substr(0, file.path.size() - name.size()));
  }
  return folders;
}

}  // namespace rung::learn
