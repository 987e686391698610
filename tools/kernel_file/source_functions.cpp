#include "tools/kernel_file/source_functions.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <optional>

namespace rung {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

void blank(std::string& text, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < std::min(end, text.size()); ++i) {
    if (text[i] != '\n') text[i] = ' ';
  }
}

/// The position after the literal, comment or directive at `at`; `at` if there is no such token.
std::size_t end_of_skipped(std::string_view text, std::size_t at, bool at_line_begin) {
  const std::string_view rest = text.substr(at);
  const auto behind = [&](std::string_view end, std::size_t from) {
    const std::size_t found = text.find(end, from);
    return found == text.npos ? text.size() : found + end.size();
  };
  if (rest.starts_with("//")) return behind("\n", at) - 1;
  if (rest.starts_with("/*")) return behind("*/", at + 2);
  if (rest.front() == '"' || rest.front() == '\'') {
    const bool separates_digits = rest.front() == '\'' && at > 0 && is_word(text[at - 1]);
    if (separates_digits) return at;
    std::size_t end = at + 1;
    while (end < text.size() && text[end] != rest.front()) end += text[end] == '\\' ? 2 : 1;
    return std::min(end + 1, text.size());
  }
  if (rest.front() != '#' || !at_line_begin) return at;
  std::size_t end = at;
  do {
    end = behind("\n", end);
  } while (end >= 2 && end < text.size() && text[end - 2] == '\\');
  return end;
}

/// The text with comments, literals and directives replaced by blanks. Positions of characters are
/// unchanged.
std::string code_of(std::string_view text) {
  std::string code(text);
  bool at_line_begin = true;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t behind = end_of_skipped(text, at, at_line_begin);
    if (behind > at) {
      blank(code, at, behind);
      at_line_begin = at_line_begin || text[behind - 1] == '\n';
      at = behind;
      continue;
    }
    at_line_begin = text[at] == '\n' || (at_line_begin && is_space(text[at]));
    ++at;
  }
  return code;
}

std::string squeezed(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (!is_space(c)) {
      result += c;
    } else if (!result.empty() && result.back() != ' ') {
      result += ' ';
    }
  }
  while (result.ends_with(' ')) result.pop_back();
  return result;
}

/// The type without qualifiers that are irrelevant to a caller.
std::string plain_type(std::string_view text) {
  std::string type;
  std::string word;
  const auto flush = [&] {
    constexpr std::array ignored = {"__restrict__", "__restrict", "restrict"};
    const bool is_ignored = std::ranges::find(ignored, word) != ignored.end();
    if (!is_ignored) {
      if (!type.empty() && is_word(type.back()) && !word.empty()) type += ' ';
      type += word;
    }
    word.clear();
  };
  for (const char c : text) {
    if (is_word(c)) {
      word += c;
      continue;
    }
    flush();
    if (!is_space(c)) type += c;
  }
  flush();
  return type;
}

SourceParameter parameter_of(std::string_view text) {
  const std::size_t open = text.find("[[");
  if (open != text.npos) {
    const std::size_t close = text.find("]]", open);
    if (close == text.npos) return {squeezed(text), "", ""};
    SourceParameter parameter =
        parameter_of(std::string(text.substr(0, open)).append(text.substr(close + 2)));
    parameter.attribute = squeezed(text.substr(open + 2, close - open - 2));
    return parameter;
  }
  const std::string all = squeezed(text.substr(0, text.find('=')));
  std::size_t begin = all.size();
  while (begin > 0 && is_word(all[begin - 1])) --begin;
  const std::string type = plain_type(all.substr(0, begin));
  if (type.empty()) return {plain_type(all), "", ""};
  return {type, all.substr(begin), ""};
}

std::vector<SourceParameter> parameters_of(std::string_view text) {
  std::vector<SourceParameter> parameters;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i == text.size() ? ',' : text[i];
    if (c == '(' || c == '<' || c == '[') ++depth;
    if (c == ')' || c == '>' || c == ']') --depth;
    if (c != ',' || (depth > 0 && i < text.size())) continue;
    const std::string_view one = text.substr(begin, i - begin);
    if (!squeezed(one).empty() && squeezed(one) != "void") parameters.push_back(parameter_of(one));
    begin = i + 1;
  }
  return parameters;
}

std::size_t closing(std::string_view code, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < code.size(); ++i) {
    if (code[i] == '(') ++depth;
    if (code[i] == ')' && --depth == 0) return i;
  }
  return code.npos;
}

bool has_word(std::string_view text, std::string_view word) {
  for (std::size_t at = 0; (at = text.find(word, at)) != text.npos; at += word.size()) {
    const bool begins = at == 0 || !is_word(text[at - 1]);
    const std::size_t end = at + word.size();
    if (begins && (end == text.size() || !is_word(text[end]))) return true;
  }
  return false;
}

/// The function declared in the text before a body.
std::optional<SourceFunction> function_of(std::string_view declaration) {
  constexpr std::array<std::string_view, 3> no_names = {"__launch_bounds__", "__attribute__",
                                                        "decltype"};
  for (std::size_t open = 0; (open = declaration.find('(', open)) != declaration.npos;) {
    std::size_t end = open;
    while (end > 0 && is_space(declaration[end - 1])) --end;
    std::size_t begin = end;
    while (begin > 0 && is_word(declaration[begin - 1])) --begin;
    const std::size_t close = closing(declaration, open);
    if (close == declaration.npos) return std::nullopt;
    const std::string_view name = declaration.substr(begin, end - begin);
    if (name.empty() || std::ranges::find(no_names, name) != no_names.end()) {
      open = close + 1;
      continue;
    }
    const std::string_view before = declaration.substr(0, begin);
    if (squeezed(before).empty()) return std::nullopt;
    SourceFunction function;
    function.name = name;
    function.result = squeezed(before);
    function.parameters = parameters_of(declaration.substr(open + 1, close - open - 1));
    function.is_kernel = has_word(before, "__global__") || has_word(before, "kernel");
    function.is_device = has_word(before, "__device__") && !has_word(before, "__host__");
    function.is_template = has_word(before, "template");
    function.line = static_cast<int>(std::ranges::count(declaration.substr(0, begin), '\n'));
    return function;
  }
  return std::nullopt;
}

}  // namespace

std::vector<SourceFunction> source_functions(std::string_view text) {
  const std::string code = code_of(text);
  std::vector<SourceFunction> found;
  int depth = 0;
  std::size_t begin = 0;  // of the declaration
  for (std::size_t i = 0; i < code.size(); ++i) {
    const char c = code[i];
    if (c == '{') {
      const std::string_view declaration = std::string_view(code).substr(begin, i - begin);
      const bool is_linkage = squeezed(declaration) == "extern";  // extern "C" { }
      if (depth == 0 && !is_linkage) {
        if (auto function = function_of(declaration)) {
          const auto above = std::ranges::count(std::string_view(code).substr(0, begin), '\n');
          function->line += static_cast<int>(above) + 1;
          found.push_back(std::move(*function));
        }
      }
      if (!is_linkage) ++depth;
      begin = i + 1;
    } else if (c == '}') {
      depth = std::max(depth - 1, 0);
      begin = i + 1;
    } else if (c == ';' && depth == 0) {
      begin = i + 1;
    }
  }
  return found;
}

}  // namespace rung
