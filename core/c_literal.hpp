#pragma once
// Formats text and file names for generated C++.

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

namespace rung {

/// A string literal for the text, including quotes. Also valid in #line and in GNU assembly.
inline std::string c_literal(std::string_view text) {
  std::string literal = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') literal += '\\';
    literal += c == '\n' ? "\\n" : std::string(1, c);
  }
  return literal + '"';
}

/// The #include directive for a file. Header names have no escapes: throws std::invalid_argument
/// for a name that cannot be written in one.
inline std::string include_directive(const std::filesystem::path& file) {
  const std::string name = std::filesystem::absolute(file).string();
  const auto has = [&](char c) { return name.find(c) != name.npos; };
  if (has('\n') || (has('"') && has('>'))) {
    throw std::invalid_argument("#include cannot name the file " + c_literal(name) +
                                ": give it a name without line breaks and quotes");
  }
  return has('"') ? "#include <" + name + ">" : "#include \"" + name + "\"";
}

}  // namespace rung
