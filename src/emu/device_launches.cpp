#include "emu/device_launches.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "emu/characters.hpp"

namespace rung::emu {
namespace {

struct Token {
  std::size_t at;  // in the text
  std::string_view text;
};

/// Where something that begins at `at` and is no token of interest ends: blanks, comments, literals,
/// directives. `at` itself if there is none.
std::size_t skipped(std::string_view text, std::size_t at, bool at_line_begin) {
  if (is_space(text[at])) return at + 1;
  if (text[at] == '#' && at_line_begin) {
    std::size_t end = at;
    do {
      end = std::min(text.find('\n', end), text.size() - 1) + 1;
    } while (end >= 2 && end < text.size() && text[end - 2] == '\\');
    return end == text.size() ? end : end - 1;
  }
  return behind_comment_or_literal(text, at);
}

std::vector<Token> tokens_of(std::string_view text) {
  std::vector<Token> tokens;
  bool at_line_begin = true;
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t next = skipped(text, at, at_line_begin); next > at) {
      at_line_begin = text[next - 1] == '\n' || (at_line_begin && is_space(text[at]));
      at = next;
      continue;
    }
    at_line_begin = false;
    std::size_t end = at + 1;
    if (is_word(text[at])) {
      // 1'000'000 is one number.
      const bool is_number = text[at] >= '0' && text[at] <= '9';
      while (end < text.size() && (is_word(text[end]) || (is_number && text[end] == '\''))) ++end;
    } else if (text.substr(at).starts_with("<<<") || text.substr(at).starts_with(">>>")) {
      end = at + 3;
    } else if (text.substr(at).starts_with("::")) {
      end = at + 2;
    }
    tokens.push_back({at, text.substr(at, end - at)});
    at = end;
  }
  return tokens;
}

enum class Scope { open, host, device };  // open: of a namespace or class

/// Of the braces that open behind these tokens.
Scope scope_behind(const std::vector<Token>& tokens, std::size_t first, std::size_t brace) {
  bool is_function = false, is_device = false;
  for (std::size_t i = first; i < brace; ++i) {
    const std::string_view text = tokens[i].text;
    const bool is_type = text == "struct" || text == "class" || text == "union" || text == "enum";
    if (text == "namespace" || (is_type && i == first)) return Scope::open;
    is_function = is_function || text == "(";
    is_device = is_device || text == "__global__" || text == "__device__";
  }
  if (!is_function) return Scope::open;
  return is_device ? Scope::device : Scope::host;
}

/// The first token of `name`, `scope::name` or `name<arguments>`, which ends before `end`.
std::optional<std::size_t> callee_before(const std::vector<Token>& tokens, std::size_t end) {
  std::size_t at = end;
  const auto back_over_arguments = [&] {
    if (at == 0 || !tokens[at - 1].text.starts_with('>')) return;
    int depth = 0, parentheses = 0;
    do {
      const std::string_view text = tokens[--at].text;
      parentheses += text == ")" ? 1 : text == "(" ? -1 : 0;
      if (parentheses != 0) continue;  // there, > compares
      if (text.starts_with('>')) depth += static_cast<int>(text.size());
      if (text == "<") --depth;
    } while (at > 0 && (depth > 0 || parentheses > 0));
  };
  for (;;) {
    back_over_arguments();
    if (at == 0 || !is_word(tokens[at - 1].text[0])) return std::nullopt;
    --at;
    if (at == 0 || tokens[at - 1].text != "::") return at;
    --at;
    if (at == 0 || (!is_word(tokens[at - 1].text[0]) && tokens[at - 1].text[0] != '>')) return at;
  }
}

struct Insertion {
  std::size_t at, replaced;
  std::string text;
};

/// The launch whose <<< is token `open`.
void rewrite_launch(std::string_view text, const std::vector<Token>& tokens, std::size_t open,
                    std::vector<Insertion>& insertions) {
  const std::optional<std::size_t> callee = callee_before(tokens, open);
  std::size_t close = open + 1;
  for (int depth = 0; close < tokens.size(); ++close) {
    if (tokens[close].text == "(") ++depth;
    if (tokens[close].text == ")") --depth;
    if (tokens[close].text == ">>>" && depth == 0) break;
  }
  if (!callee || close + 1 >= tokens.size() || tokens[close + 1].text != "(") return;
  const std::size_t begin = tokens[*callee].at, end = tokens[open].at;
  const std::string kernel(text.substr(begin, end - begin));
  insertions.push_back({begin, end - begin + 3,
                        "::rung_emu::DeviceLaunch<decltype(::rung_emu::Kernel<decltype(&" + kernel +
                            "), (" + kernel + ")>{})>("});
  insertions.push_back({tokens[close].at, 3, ")"});
}

}  // namespace

std::string rewrite_device_launches(const std::string& text) {
  if (text.find("<<<") == text.npos) return text;
  const std::vector<Token> tokens = tokens_of(text);
  std::vector<Insertion> insertions;
  std::vector<Scope> scopes = {Scope::open};
  std::size_t first = 0;  // of the declaration, in a namespace or class
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string_view token = tokens[i].text;
    const Scope scope = scopes.back();
    if (token == "{") {
      scopes.push_back(scope == Scope::open ? scope_behind(tokens, first, i) : scope);
    } else if (token == "}" && scopes.size() > 1) {
      scopes.pop_back();
    } else if (token == "<<<" && scope == Scope::device) {
      rewrite_launch(text, tokens, i, insertions);
    }
    if (token == "{" || token == "}" || token == ";") first = i + 1;
  }
  std::string rewritten;
  std::size_t rest = 0;
  for (const Insertion& each : insertions) {
    rewritten += text.substr(rest, each.at - rest) + each.text;
    rest = each.at + each.replaced;
  }
  return rewritten + text.substr(rest);
}

}  // namespace rung::emu
