#include "pointers.hpp"

#include <algorithm>
#include <regex>
#include <set>

namespace rung::metal_tests {
namespace {

/// The text with comments and preprocessor lines replaced by blanks.
std::string code_of(std::string text) {
  static const std::regex dropped(R"(//[^\n]*|#(?:[^\n\\]|\\[\s\S])*)");
  for (std::smatch match; std::regex_search(text, match, dropped);) {
    std::string blank = match.str();
    std::replace_if(blank.begin(), blank.end(), [](char c) { return c != '\n'; }, ' ');
    text.replace(static_cast<std::size_t>(match.position()), blank.size(), blank);
  }
  return text;
}

/// The text with template arguments replaced by blanks, innermost first.
std::string without_template_arguments(std::string text) {
  static const std::regex arguments(R"((\b[A-Za-z_]\w*)<[^<>;(){}]*>)");
  for (std::smatch match; std::regex_search(text, match, arguments);) {
    const auto at = static_cast<std::size_t>(match.position() + match[1].length());
    const auto length = static_cast<std::size_t>(match.length() - match[1].length());
    text.replace(at, length, std::string(length, ' '));
  }
  return text;
}

/// The names of types: Metal's own, and those that the text declares.
std::string type_names(const std::string& text) {
  std::set<std::string> names = {"vec", "bool", "atomic", "simdgroup_matrix", "size_t"};
  for (const char* const scalar : {"char", "uchar", "short", "ushort", "int", "uint", "long",
                                   "ulong", "half", "bfloat", "float", "int64_t", "uint32_t"}) {
    for (const char* const size : {"", "2", "3", "4"}) names.insert(std::string(scalar) + size);
  }
  for (const char* const of : {"atomic_int", "atomic_uint", "atomic_float"}) names.insert(of);
  static const std::regex introduced(R"(\b(?:class|typename|struct)\s+([A-Za-z_]\w*))");
  for (std::sregex_iterator found(text.begin(), text.end(), introduced), end; found != end;
       ++found) {
    names.insert((*found)[1]);
  }
  std::string pattern;
  for (const std::string& name : names) pattern += (pattern.empty() ? "" : "|") + name;
  return pattern;
}

}  // namespace

std::vector<std::string> pointers_without_address_space(const std::string& source) {
  const std::string plain = code_of(source);
  const std::string text = without_template_arguments(plain);
  const std::regex declaration("\\b(?:" + type_names(plain) +
                               ")\\s*(?:const\\s*)?(?:[*&]|\\(\\s*[*&])");
  static const std::regex space(R"(\b(device|constant|threadgroup|thread)\b)");
  std::vector<std::string> found;
  for (std::sregex_iterator match(text.begin(), text.end(), declaration), end; match != end;
       ++match) {
    const auto at = static_cast<std::size_t>(match->position());
    const std::size_t begin = text.find_last_of(";{}(,<>", at);
    const std::size_t from = begin == text.npos ? 0 : begin + 1;
    const std::string before = text.substr(from, at - from);
    if (std::regex_search(before, space)) continue;
    const auto line = 1 + std::count(text.begin(), text.begin() + match->position(), '\n');
    found.push_back(std::to_string(line) + ": " + match->str());
  }
  return found;
}

}  // namespace rung::metal_tests
