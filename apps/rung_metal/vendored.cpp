#include "apps/rung_metal/vendored.hpp"

#include <fmt/format.h>

#include <set>

#include "core/c_literal.hpp"

namespace rung::emu {
namespace {

namespace fs = std::filesystem;

/// The project of a file: its folder, or the folder above with .git.
fs::path project_of(const fs::path& file) {
  constexpr int most_levels = 5;
  fs::path folder = fs::absolute(file).lexically_normal().parent_path();
  const fs::path own = folder;
  for (int level = 0; level < most_levels && folder.has_relative_path(); ++level) {
    if (fs::exists(folder / ".git")) return folder;
    folder = folder.parent_path();
  }
  return fs::exists(own.parent_path() / "metal-cpp") ? own.parent_path() : own;
}

bool is_metal_cpp(const fs::path& folder) {
  return fs::exists(folder / "Metal/Metal.hpp") && fs::exists(folder / "Foundation/Foundation.hpp");
}

/// Folders of a tree that are copies of metal-cpp.
void find_copies(const fs::path& root, std::set<fs::path>& copies) {
  constexpr int deepest = 6;
  std::error_code failed;
  if (is_metal_cpp(root)) copies.insert(root);
  auto at =
      fs::recursive_directory_iterator(root, fs::directory_options::skip_permission_denied, failed);
  for (const fs::recursive_directory_iterator end; !failed && at != end; at.increment(failed)) {
    const std::string name = at->path().filename().string();
    const bool is_folder = at->is_directory(failed);
    if (is_folder && (at.depth() >= deepest || name.starts_with('.') || name == "node_modules")) {
      at.disable_recursion_pending();
    } else if (is_folder && is_metal_cpp(at->path())) {
      copies.insert(at->path());
      at.disable_recursion_pending();
    }
  }
}

class Overlay {
 public:
  explicit Overlay(fs::path own) : own_(std::move(own)) {}

  void replace(const fs::path& copy) {
    for (const auto& [folder, header] : {std::pair{"Foundation", "Foundation/Foundation.hpp"},
                                         {"Metal", "Metal/Metal.hpp"},
                                         {"QuartzCore", "QuartzCore/QuartzCore.hpp"},
                                         {"SingleHeader", "Metal.hpp"}}) {
      std::error_code missing;
      for (const auto& file : fs::directory_iterator(copy / folder, missing)) {
        if (file.path().extension() == ".hpp") add(file.path(), header);
      }
    }
    if (fs::exists(copy / "Metal.hpp")) add(copy / "Metal.hpp", "Metal.hpp");
  }
  std::string text() const {
    if (entries_.empty()) return {};
    return fmt::format("{{'version': 0, 'use-external-names': true, 'roots': [{}]}}\n", entries_);
  }

 private:
  void add(const fs::path& file, const char* header) {
    entries_ += fmt::format("{}{{'name': {}, 'type': 'file', 'external-contents': {}}}",
                            entries_.empty() ? "" : ", ", c_literal(file.string()),
                            c_literal((own_ / header).string()));
  }

  fs::path own_;
  std::string entries_;
};

}  // namespace

std::string metal_cpp_overlay(const Words& words, const fs::path& own) {
  std::set<fs::path> copies;
  std::set<fs::path> projects;
  for (std::size_t at = 0; at < words.size(); ++at) {
    const std::string& word = words[at];
    if (word.starts_with("-I") || word.starts_with("-isystem")) {
      std::string folder = word.substr(word.starts_with("-I") ? 2 : 8);
      if (folder.empty() && at + 1 < words.size()) folder = words[at + 1];
      const fs::path path = fs::absolute(folder).lexically_normal();
      if (is_metal_cpp(path)) copies.insert(path);
    } else if (!word.starts_with('-') && fs::path(word).has_extension() && fs::exists(word)) {
      projects.insert(project_of(word));
    }
  }
  for (const fs::path& project : projects) find_copies(project, copies);
  Overlay overlay(own);
  for (const fs::path& copy : copies) overlay.replace(copy);
  return overlay.text();
}

}  // namespace rung::emu
