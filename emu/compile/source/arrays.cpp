// Passes over declarations of arrays.

#include <algorithm>
#include <optional>
#include <vector>

#include "emu/compile/source/characters.hpp"
#include "emu/compile/source/passes.hpp"

namespace rung::emu {
namespace {

/// True if the innermost brace that is open at `at` is a function's or a statement's.
bool is_in_function(const Tokens& tokens, std::size_t at) {
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < at; ++i) {
    if (tokens[i].text == "{") {
      open.push_back(i);
    } else if (tokens[i].text == "}" && !open.empty()) {
      open.pop_back();
    }
  }
  if (open.empty()) return false;
  // The head is `namespace a`, `extern "C"`, or that of a function or a statement.
  for (std::size_t i = open.back(); i-- > 0;) {
    const std::string_view text = tokens[i].text;
    if (text == ";" || text == "{" || text == "}") break;
    if (text == "namespace" || tokens[i].is_literal) return false;
  }
  return true;
}

/// The token after the brackets that begin at `at`: `[n][m + 1]`.
std::size_t after_dimensions(const Tokens& tokens, std::size_t at) {
  while (are_next(tokens, at, {"["})) {
    for (int depth = 0; at < tokens.size(); ++at) {
      depth += tokens[at].text == "[" ? 1 : tokens[at].text == "]" ? -1 : 0;
      if (depth == 0) break;
    }
    at = std::min(at + 1, tokens.size());
  }
  return at;
}

bool are_same(const Tokens& tokens, std::size_t first, std::size_t end, std::size_t others,
              std::size_t others_end) {
  const auto from = [&](std::size_t at) {
    return tokens.begin() + static_cast<std::ptrdiff_t>(at);
  };
  return std::equal(from(first), from(end), from(others), from(others_end),
                    [](const Token& a, const Token& b) { return a.text == b.text; });
}

/// The tokens of a declaration of a pointer to an array, up to its `=`.
struct ArrayPointer {
  std::size_t first, name, end;
};

/// The declaration whose declarator begins at `open`, `(*name)[n] = (double (*)[n])…`, if the cast has the
/// declared type.
std::optional<ArrayPointer> array_pointer(const Tokens& tokens, std::size_t open) {
  const std::size_t name = open + 2;
  if (!are_next(tokens, open, {"(", "*"}) || !are_next(tokens, name + 1, {")", "["})) return {};
  const std::size_t dimensions = name + 2, end = after_dimensions(tokens, dimensions);
  if (!is_word(tokens[name].text[0]) || !are_next(tokens, end, {"=", "("})) return {};
  const auto cast_end = after_parentheses(tokens, end + 1);
  if (!cast_end) return {};
  const std::size_t type = end + 2;
  std::size_t star = type;
  while (star < *cast_end && !are_next(tokens, star, {"(", "*", ")"})) ++star;
  if (star == *cast_end || star == type || open < star - type) return {};
  const std::size_t first = open - (star - type);
  const bool is_same = are_same(tokens, first, open, type, star) &&
                       are_same(tokens, dimensions, end, star + 3, *cast_end - 1);
  return is_same ? std::optional(ArrayPointer{first, name, end}) : std::nullopt;
}

}  // namespace

Edits declare_shared_arrays(const SourceText& source) {
  const Tokens& tokens = source.tokens();
  const auto ends_declarator = [&](std::size_t at) {
    const std::string_view text = tokens[at].text;
    return text == ";" || text == "{" || text == "}" || text == "[" || text == "=" ||
           text.starts_with('"');
  };
  Edits edits;
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    if (tokens[at].text != "extern") continue;
    bool is_shared = at > 0 && tokens[at - 1].text == "__shared__";
    std::size_t end = at + 1;
    for (; end < tokens.size() && !ends_declarator(end); ++end) {
      is_shared = is_shared || tokens[end].text == "__shared__";
    }
    if (end == tokens.size() || !is_shared) continue;
    if (tokens[end].text == "[") {
      // The launch gives the size, whatever the bound is.
      std::size_t close = end;
      while (close < tokens.size() && tokens[close].text != "]") ++close;
      if (close == tokens.size()) break;
      const std::size_t begin = tokens[end].end(), stop = tokens[close].at;
      if (begin < stop) edits.push_back({begin, stop - begin, source.lines(begin, stop)});
      continue;
    }
    const Token& name = tokens[end - 1];
    if (tokens[end].text != ";" || !is_word(name.text[0]) || !is_in_function(tokens, at)) continue;
    const std::string array = "rung_emu_" + std::string(name.text);
    edits.push_back({name.at, name.text.size(),
                     array + "[]; auto& " + std::string(name.text) + " = *" + array});
  }
  return edits;
}

Edits deduce_array_pointers(const SourceText& source) {
  const Tokens& tokens = source.tokens();
  Edits edits;
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    const auto found = array_pointer(tokens, at);
    if (!found) continue;
    const std::size_t begin = tokens[found->first].at, end = tokens[found->end - 1].end();
    edits.push_back({begin, end - begin,
                     "auto " + std::string(tokens[found->name].text) + source.lines(begin, end)});
    at = found->end;
  }
  return edits;
}

}  // namespace rung::emu
