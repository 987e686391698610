#include "emu/reports/source_files.hpp"

#include <fmt/format.h>

#include <cctype>
#include <string_view>

#include "emu/reports/output_formats.hpp"

namespace rung::emu {

namespace fs = std::filesystem;

namespace {

/// Absolute, without symbolic links as far as the path exists.
fs::path resolved(const fs::path& path) {
  std::error_code error;
  const fs::path canonical = fs::weakly_canonical(path, error);
  return error ? fs::absolute(path).lexically_normal() : canonical;
}

}  // namespace

fs::path report_root(const fs::path& folder) {
  const fs::path start = resolved(folder);
  std::error_code ignored;
  for (fs::path at = start;; at = at.parent_path()) {
    if (fs::exists(at / ".git", ignored)) return at;
    if (at == at.parent_path()) return start;
  }
}

std::string relative_name(const std::string& file, const fs::path& root) {
  if (file.empty()) return {};
  const fs::path path = resolved(file);
  const fs::path relative = path.lexically_relative(resolved(root));
  const bool inside = !relative.empty() && *relative.begin() != "..";
  return (inside ? relative : path).generic_string();
}

std::string uri_of(const std::string& name) {
  constexpr std::string_view plain = "-._~/";
  std::string uri = name.starts_with('/') ? "file://" : "";
  for (const char letter : name) {
    const auto code = static_cast<unsigned char>(letter);
    const bool keep = code < 0x80 && (std::isalnum(code) != 0 || plain.find(letter) != plain.npos);
    uri += keep ? std::string(1, letter) : fmt::format("%{:02X}", code);
  }
  return uri;
}

}  // namespace rung::emu
