#include "emu/compile/source/own_files.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include "emu/compile/link/device_code.hpp"

namespace rung::emu {
namespace {

namespace fs = std::filesystem;

struct Include {
  std::string name;
  bool is_quoted;
};

std::vector<Include> includes_of(std::string_view text) {
  constexpr std::string_view blanks = " \t", directive = "include";
  std::vector<Include> found;
  for (std::size_t at = 0; (at = text.find('#', at)) != text.npos;) {
    at = std::min(text.find_first_not_of(blanks, at + 1), text.size());
    if (!text.substr(at).starts_with(directive)) continue;
    at = text.find_first_not_of(blanks, at + directive.size());
    if (at == text.npos || (text[at] != '"' && text[at] != '<')) continue;
    const std::size_t end = text.find_first_of(text[at] == '"' ? "\"\n" : ">\n", at + 1);
    if (end == text.npos || text[end] == '\n') continue;
    found.push_back({std::string(text.substr(at + 1, end - at - 1)), text[at] == '"'});
  }
  return found;
}

/// The folders of -I; the first is this project's own.
std::vector<fs::path> include_folders(const std::vector<std::string>& arguments) {
  std::vector<fs::path> folders;
  for (const std::string& argument : arguments) {
    if (argument.starts_with("-I")) folders.emplace_back(argument.substr(2));
  }
  return folders;
}

/// Where the compiler would find it; none if that is not among the program's own.
std::optional<fs::path> locate(const Include& include, const fs::path& folder,
                               const std::vector<fs::path>& folders) {
  std::error_code none;
  if (include.is_quoted && fs::is_regular_file(folder / include.name, none)) {
    return folder / include.name;
  }
  for (const fs::path& each : folders) {
    if (!fs::is_regular_file(each / include.name, none)) continue;
    return each == folders.front() ? std::nullopt : std::optional(each / include.name);
  }
  return std::nullopt;
}

}  // namespace

fs::path barrier_header(const std::vector<std::string>& arguments) {
  for (const std::string_view option : {"-I", "-isystem", "-idirafter"}) {
    for (const std::string& argument : arguments) {
      if (!argument.starts_with(option)) continue;
      const fs::path header =
          fs::path(argument.substr(option.size())) / "cuda/__barrier/barrier_block_scope.h";
      std::error_code none;
      if (fs::is_regular_file(header, none)) return fs::absolute(header).lexically_normal();
    }
  }
  return {};
}

std::map<std::string, std::string> own_files(const fs::path& source,
                                             const std::vector<std::string>& arguments) {
  const std::vector<fs::path> folders = include_folders(arguments);
  std::map<std::string, std::string> files;
  std::vector<fs::path> open = {source};
  while (!open.empty()) {
    const fs::path path = fs::absolute(open.back()).lexically_normal();
    open.pop_back();
    const auto [file, is_new] = files.try_emplace(path.string());
    if (!is_new) continue;
    file->second = read_file(path);
    for (const Include& include : includes_of(file->second)) {
      if (auto found = locate(include, path.parent_path(), folders)) open.push_back(*found);
    }
  }
  return files;
}

}  // namespace rung::emu
