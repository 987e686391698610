#include "emu/nvcc_declarations.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "emu/characters.hpp"

namespace rung::emu {
namespace {

using Text = std::string_view;

/// The word that ends before `at`, and before spaces.
Text last_word_before(Text text, std::size_t at) {
  while (at > 0 && is_space(text[at - 1])) --at;
  std::size_t begin = at;
  while (begin > 0 && is_word(text[begin - 1])) --begin;
  return text.substr(begin, at - begin);
}

/// Where the word that begins at `at` ends.
std::size_t behind_word(Text text, std::size_t at) {
  while (at < text.size() && is_word(text[at])) ++at;
  return at;
}

/// The next place of a whole word; npos if there is none.
std::size_t find_word(Text text, Text word, std::size_t at) {
  for (; (at = text.find(word, at)) != text.npos; at += word.size()) {
    const bool begins = at == 0 || !is_word(text[at - 1]);
    if (begins && behind_word(text, at) == at + word.size()) break;
  }
  return at;
}

/// Behind the list of template arguments that begins at `at`; npos if none ends there.
std::size_t behind_arguments(Text text, std::size_t at) {
  int depth = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == ';' || c == '{') break;
    if (c == '(') {
      const std::size_t end = behind_parentheses(text, at);
      if (end == text.npos) break;
      at = end - 1;
      continue;
    }
    depth += c == '<' ? 1 : c == '>' ? -1 : 0;
    if (depth == 0) return at + 1;
  }
  return text.npos;
}

/// Whether the innermost brace that is open at `at` is a function's or a statement's.
bool is_in_function(Text text, std::size_t at) {
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < at; ++i) {
    const std::size_t behind = behind_comment_or_literal(text, i);
    if (behind > i) {
      i = behind - 1;
    } else if (text[i] == '{') {
      open.push_back(i);
    } else if (text[i] == '}' && !open.empty()) {
      open.pop_back();
    }
  }
  if (open.empty()) return false;
  // What stands before it: `namespace a`, `extern "C"`, or the head of a function or a statement.
  const Text before = text.substr(0, open.back());
  const Text head = before.substr(before.find_last_of(";{}") + 1);
  return find_word(head, "namespace", 0) == head.npos && head.find('"') == head.npos;
}

/// Behind the brackets that begin at `at`: `[n][m + 1]`.
std::size_t behind_brackets(Text text, std::size_t at) {
  while (at < text.size() && text[at] == '[') {
    int depth = 0;
    for (; at < text.size(); ++at) {
      depth += text[at] == '[' ? 1 : text[at] == ']' ? -1 : 0;
      if (depth == 0) break;
    }
    at = std::min(at + 1, text.size());
  }
  return at;
}

Text trimmed(Text text) {
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text.substr(behind_spaces(text, 0));
}

/// A pointer to an array and the cast that it is initialised by, where both have the same type.
struct ArrayPointer {
  Text type, name;
  std::size_t end = 0;  // of the declarator
};

/// That of which the declarator begins at `at`, `(*name)[n] = (double (*)[n])…`.
std::optional<ArrayPointer> array_pointer(Text text, std::size_t at) {
  const std::size_t name = behind_spaces(text, at + 2), name_end = behind_word(text, name);
  const std::size_t close = behind_spaces(text, name_end);
  if (name_end == name || !text.substr(close).starts_with(")[")) return std::nullopt;
  const std::size_t end = behind_brackets(text, close + 1);
  const std::size_t equals = behind_spaces(text, end);
  if (!text.substr(equals).starts_with("=")) return std::nullopt;
  const std::size_t open = behind_spaces(text, equals + 1);
  if (!text.substr(open).starts_with("(")) return std::nullopt;
  const std::size_t cast_end = behind_parentheses(text, open);
  if (cast_end == text.npos) return std::nullopt;
  const Text cast = text.substr(open + 1, cast_end - open - 2);
  const std::size_t star = cast.find("(*)");
  if (star == cast.npos) return std::nullopt;
  const Text type = trimmed(cast.substr(0, star)), before = trimmed(text.substr(0, at));
  const bool is_same = trimmed(cast.substr(star + 3)) == text.substr(close + 1, end - close - 1);
  if (!is_same || type.empty() || !before.ends_with(type)) return std::nullopt;
  return ArrayPointer{before.substr(before.size() - type.size()),
                      text.substr(name, name_end - name), end};
}

}  // namespace

std::string drop_late_attributes(const std::string& text) {
  constexpr std::array<Text, 5> specifiers = {"__device__", "__host__", "__global__",
                                              "__forceinline__", "__noinline__"};
  std::string result = text;
  for (std::size_t at = 0; (at = result.find("[[", at)) != result.npos;) {
    const Text before = last_word_before(result, at);
    const std::size_t end = result.find("]]", at);
    if (end == result.npos) break;
    if (std::find(specifiers.begin(), specifiers.end(), before) == specifiers.end()) {
      at += 2;
      continue;
    }
    const auto begin = result.begin() + static_cast<std::ptrdiff_t>(at);
    const auto behind = result.begin() + static_cast<std::ptrdiff_t>(end) + 2;
    std::replace_if(begin, behind, [](char c) { return c != '\n'; }, ' ');
  }
  return result;
}

std::string name_dependent_templates(const std::string& text) {
  constexpr Text typename_word = "typename", template_word = "template", scope = "::";
  std::string result;
  std::size_t rest = 0;
  for (std::size_t at = 0; (at = find_word(text, typename_word, at)) != text.npos;) {
    at = behind_spaces(text, at + typename_word.size());
    bool is_dependent = false;  // behind a list of arguments
    while (at < text.size()) {
      const std::size_t name = at, name_end = behind_word(text, at);
      at = behind_spaces(text, name_end);
      if (Text(text).substr(name, name_end - name) == template_word) {
        is_dependent = false;
        continue;
      }
      if (name_end > name && at < text.size() && text[at] == '<') {
        const std::size_t end = behind_arguments(text, at);
        if (end == text.npos) break;
        if (is_dependent) {
          result.append(text, rest, name - rest).append("template ");
          rest = name;
        }
        is_dependent = true;
        at = behind_spaces(text, end);
      }
      if (!Text(text).substr(at).starts_with(scope)) break;
      at = behind_spaces(text, at + scope.size());
    }
  }
  return result.append(text, rest);
}

std::string declare_shared_arrays(const std::string& text) {
  constexpr Text word = "extern";
  std::string result;
  std::size_t rest = 0;
  for (std::size_t at = 0; (at = find_word(text, word, at)) != text.npos; at += word.size()) {
    const std::size_t end = text.find_first_of(";{}[=\"", at);
    if (end == text.npos || text[end] != ';') continue;
    const Text declaration = Text(text).substr(at, end - at);
    if (find_word(declaration, "__shared__", 0) == declaration.npos) continue;
    const Text name = last_word_before(declaration, declaration.size());
    if (name.empty() || !is_in_function(text, at)) continue;
    const std::size_t begin = at + static_cast<std::size_t>(name.data() - declaration.data());
    const std::string array = "rung_emu_" + std::string(name);
    result.append(text, rest, begin - rest).append(array).append("[]; auto& ").append(name);
    result.append(" = *").append(array);
    rest = begin + name.size();
  }
  return result.append(text, rest);
}

std::string deduce_array_pointers(const std::string& text) {
  std::string result;
  std::size_t rest = 0;
  for (std::size_t at = 0; (at = text.find("(*", at)) != text.npos; ++at) {
    const auto found = array_pointer(text, at);
    if (!found) continue;
    const auto begin = static_cast<std::size_t>(found->type.data() - text.data());
    if (begin < rest) continue;
    const Text declarator = Text(text).substr(begin, found->end - begin);
    const auto lines = std::count(declarator.begin(), declarator.end(), '\n');
    result.append(text, rest, begin - rest).append("auto ").append(found->name);
    result.append(static_cast<std::size_t>(lines), '\n');
    rest = found->end;
  }
  return result.append(text, rest);
}

std::string include_atomics(const std::string& text) {
  constexpr Text header = "<cooperative_groups.h>";
  constexpr std::array<Text, 3> names = {"cuda::memory_order", "cuda::atomic",
                                         "cuda::thread_scope"};
  const auto has = [&](Text part) { return text.find(part) != text.npos; };
  const std::size_t at = text.find(header);
  if (at == text.npos || has("<cuda/atomic>") || std::none_of(names.begin(), names.end(), has)) {
    return text;
  }
  std::string result = text;
  return result.replace(at, header.size(), "<rung_emu/groups_and_atomics.h>");
}

}  // namespace rung::emu
