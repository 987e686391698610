#include "emu/compile/source/discarded_calls.hpp"

#include <algorithm>

#include "emu/compile/source/assigned_variable.hpp"
#include "emu/compile/source/characters.hpp"
#include "emu/compile/source/tokens.hpp"

namespace rung::emu {
namespace {

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> texts) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

/// The text of these tokens with single blanks where it has blanks or line ends.
std::string joined(std::string_view text, const Tokens& tokens, std::size_t first,
                   std::size_t end) {
  std::string words;
  for (std::size_t at = tokens[first].at; at < tokens[end - 1].end(); ++at) {
    if (!is_space(text[at])) {
      words += text[at];
    } else if (!words.ends_with(' ')) {
      words += ' ';
    }
  }
  return words;
}

/// The parenthesis that the one at `close` closes; empty if none does.
std::optional<std::size_t> opening_parenthesis(const Tokens& tokens, std::size_t close) {
  int depth = 0;
  for (std::size_t at = close + 1; at-- > 0;) {
    depth += tokens[at].text == ")" ? 1 : tokens[at].text == "(" ? -1 : 0;
    if (depth == 0) return at;
  }
  return std::nullopt;
}

/// The innermost bracket that is open before `at`; empty at the level of the file.
std::optional<std::size_t> enclosing_bracket(const Tokens& tokens, std::size_t at) {
  int depth = 0;
  while (at-- > 0) {
    if (is_one_of(tokens[at].text, {")", "}", "]"})) ++depth;
    if (is_one_of(tokens[at].text, {"(", "{", "["}) && --depth < 0) return at;
  }
  return std::nullopt;
}

/// True if the colon before token `at` ends a label and is no part of `a ? b : c`.
bool follows_label(const Tokens& tokens, std::size_t at) {
  for (--at; at-- > 0 && !is_one_of(tokens[at].text, {";", "{", "}"});) {
    if (tokens[at].text == "?") return false;
  }
  return true;
}

/// True if a statement begins at this token.
bool begins_statement(const Tokens& tokens, std::size_t at) {
  if (const auto bracket = enclosing_bracket(tokens, at)) {
    if (tokens[*bracket].text != "{") return false;  // in the head of a loop, or an argument
    // The last value of ({ … }) is the value of all of it.
    if (*bracket > 0 && tokens[*bracket - 1].text == "(") return false;
  }
  if (at == 0) return true;
  const std::string_view before = tokens[at - 1].text;
  if (is_one_of(before, {";", "{", "}", "else", "do"})) return true;
  if (before == ":") return follows_label(tokens, at);
  if (before != ")") return false;
  const auto open = opening_parenthesis(tokens, at - 1);
  return open && *open > 0 &&
         is_one_of(tokens[*open - 1].text, {"if", "for", "while", "switch", "constexpr"});
}

/// The end of the call whose name is token `at`, if it is a statement of its own.
std::optional<std::size_t> end_of_statement(const Tokens& tokens, std::size_t at) {
  const auto end = after_parentheses(tokens, at + 1);
  if (!end) return std::nullopt;
  const bool is_last = *end == tokens.size();  // in a macro, whose use has the semicolon
  if (!is_last && tokens[*end].text != ";") return std::nullopt;
  const auto first = first_of_name(tokens, at + 1);
  if (!first) return std::nullopt;
  const bool is_global = *first > 0 && tokens[*first - 1].text == "::";
  return begins_statement(tokens, *first - (is_global ? 1 : 0)) ? end : std::nullopt;
}

/// Tokens outside directives, with literals.
Tokens program_tokens(const Tokens& all) {
  Tokens tokens;
  std::copy_if(all.begin(), all.end(), std::back_inserter(tokens),
               [](const Token& token) { return !token.in_directive; });
  return tokens;
}

bool is_call_of(const Tokens& tokens, std::size_t at, std::span<const std::string> names) {
  return !tokens[at].is_literal && at + 1 < tokens.size() && tokens[at + 1].text == "(" &&
         std::find(names.begin(), names.end(), tokens[at].text) != names.end();
}

/// The tokens that a macro of this name stands for; empty without one, or with several definitions.
Tokens macro_body(const Tokens& all, std::string_view name) {
  Tokens body;
  for (std::size_t at = 0; at + 2 < all.size(); ++at) {
    if (!all[at].in_directive || !are_next(all, at, {"#", "define"}) || all[at + 2].text != name) {
      continue;
    }
    if (!body.empty()) return {};
    std::size_t next = at + 3;
    const bool takes_arguments =
        next < all.size() && all[next].text == "(" && all[next].at == all[next - 1].end();
    if (takes_arguments) next = after_parentheses(all, next).value_or(all.size());
    for (; next < all.size() && all[next].in_directive && all[next].text != "#"; ++next) {
      if (all[next].text != "\\") body.push_back(all[next]);
    }
  }
  return body;
}

/// The discarded call of one of these functions that token `at`, a macro, stands for.
std::optional<DiscardedCall> discarded_by_macro(const Tokens& all, const Tokens& tokens,
                                                std::size_t at, std::string_view text,
                                                std::span<const std::string> names) {
  std::size_t end = at + 1;
  if (end < tokens.size() && tokens[end].text == "(") {
    end = after_parentheses(tokens, end).value_or(end);
  }
  if (!begins_statement(tokens, at)) return std::nullopt;
  const Tokens body = macro_body(all, tokens[at].text);
  std::optional<DiscardedCall> found;
  for (std::size_t i = 0; i < body.size(); ++i) {
    if (!is_call_of(body, i, names)) continue;
    if (!end_of_statement(body, i)) return std::nullopt;
    found = {std::string(body[i].text), joined(text, tokens, at, end)};
  }
  return found;
}

/// The variable whose address the call at token `at` takes first; empty if it takes none.
std::string first_address(std::string_view text, const Tokens& tokens, std::size_t at) {
  std::size_t first = 0;
  int depth = 0;
  while (at + 1 < tokens.size() && !is_one_of(tokens[at + 1].text, {"(", ";"})) ++at;
  for (++at; at < tokens.size(); ++at) {
    const std::string_view token = tokens[at].text;
    depth += is_one_of(token, {"(", "[", "{"}) ? 1 : is_one_of(token, {")", "]", "}"}) ? -1 : 0;
    const bool ends = depth <= 0 || (depth == 1 && token == ",");
    if (first != 0 && (ends || token == ")")) {
      return first < at ? joined(text, tokens, first, at) : "";
    }
    if (ends) return {};
    if (token == "&" && first == 0) first = at + 1;
  }
  return {};
}

/// Calls action(index) for the tokens of a line.
template <class Action>
void for_tokens_on(std::string_view text, const Tokens& tokens, int line, Action&& action) {
  std::size_t begin = 0;
  for (int number = 1; number < line && begin < text.size(); ++number) {
    begin = std::min(text.find('\n', begin), text.size() - 1) + 1;
  }
  const std::size_t end = std::min(text.find('\n', begin), text.size());
  const auto first =
      std::lower_bound(tokens.begin(), tokens.end(), begin,
                       [](const Token& token, std::size_t at) { return token.at < at; });
  for (auto at = first; at != tokens.end() && at->at < end; ++at) {
    action(static_cast<std::size_t>(at - tokens.begin()));
  }
}

}  // namespace

std::optional<DiscardedCall> discarded_call(std::string_view text, int line,
                                            std::span<const std::string> names) {
  const Tokens all = all_tokens(text), tokens = program_tokens(all);
  std::optional<DiscardedCall> found;
  bool uses_one = false;
  for_tokens_on(text, tokens, line, [&](std::size_t at) {
    if (is_call_of(tokens, at, names)) {
      const auto end = end_of_statement(tokens, at);
      uses_one = uses_one || !end || *end == tokens.size();
      if (end) found = {std::string(tokens[at].text), joined(text, tokens, at, *end)};
    } else if (!tokens[at].is_literal && is_word(tokens[at].text[0])) {
      if (auto call = discarded_by_macro(all, tokens, at, text, names)) found = std::move(call);
    }
  });
  return uses_one ? std::nullopt : found;
}

std::vector<std::string> allocated_variables(std::string_view text, int line,
                                             std::string_view function) {
  const Tokens tokens = program_tokens(all_tokens(text));
  std::vector<std::string> found;
  for_tokens_on(text, tokens, line, [&](std::size_t at) {
    const bool is_call = !tokens[at].is_literal && tokens[at].text == function &&
                         at + 1 < tokens.size() && is_one_of(tokens[at + 1].text, {"(", "<"});
    if (is_call) found.push_back(first_address(text, tokens, at));
  });
  return found;
}

std::string assigned_variable(std::string_view text, int line, std::string_view function) {
  const Tokens tokens = program_tokens(all_tokens(text));
  std::string found;
  for_tokens_on(text, tokens, line, [&](std::size_t at) {
    if (!found.empty() || tokens[at].text != function || tokens[at].is_literal) return;
    while (at > 0 && !is_one_of(tokens[at].text, {"=", ";", "{", "}"})) --at;
    if (at > 0 && tokens[at].text == "=" && is_word(tokens[at - 1].text[0])) {
      found = tokens[at - 1].text;
    }
  });
  return found;
}

std::string launch_text(std::string_view text, int line) {
  const Tokens tokens = program_tokens(all_tokens(text));
  std::string found;
  for_tokens_on(text, tokens, line, [&](std::size_t at) {
    if (!found.empty() || tokens[at].text != "<<<") return;
    std::size_t end = at;
    while (end < tokens.size() && !is_one_of(tokens[end].text, {";", "}"})) ++end;
    const std::size_t first = first_of_name(tokens, at).value_or(at);
    found = joined(text, tokens, first, end);
  });
  return found;
}

}  // namespace rung::emu
