#include "emu/compile/metal/source.hpp"

#include <algorithm>
#include <array>

namespace rung::emu::metal {
namespace {

bool is_blank(const Token& token) {
  return token.kind == TokenKind::space || token.kind == TokenKind::directive || token.text.empty();
}

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> all) {
  return std::ranges::find(all, text) != all.end();
}

}  // namespace

Source::Source(std::string_view preprocessed) {
  Tokens tokens = split_tokens(preprocessed);
  tokens_ = std::move(tokens.all);
  files_ = std::move(tokens.files);
  match_brackets();
}

std::size_t Source::next(std::size_t at) const {
  do ++at;
  while (at < size() && is_blank(tokens_[at]));
  return std::min(at, size());
}

std::size_t Source::previous(std::size_t at) const {
  while (at > 0) {
    if (!is_blank(tokens_[--at])) return at;
  }
  return size();
}

void Source::match_brackets() {
  partners_.assign(size(), size());
  around_.assign(size(), size());
  scopes_.assign(size(), Scope::file);
  std::vector<std::size_t> open;
  for (std::size_t at = 0; at < size(); ++at) {
    const Token& token = tokens_[at];
    const bool opens = token.is("(") || token.is("[") || token.is("{");
    const bool closes = token.is(")") || token.is("]") || token.is("}");
    if (closes) {
      const std::string_view wanted = token.is(")") ? "(" : token.is("]") ? "[" : "{";
      while (!open.empty() && !tokens_[open.back()].is(wanted)) {
        is_balanced_ = false;
        open.pop_back();
      }
      if (open.empty()) {
        is_balanced_ = false;
      } else {
        partners_[at] = open.back();
        partners_[open.back()] = at;
        open.pop_back();
      }
    }
    around_[at] = open.empty() ? size() : open.back();
    if (token.is("{")) scopes_[at] = scope_of_brace(at);
    if (opens) open.push_back(at);
  }
  is_balanced_ = is_balanced_ && open.empty();
}

Source::Scope Source::scope_of_brace(std::size_t open) const {
  const std::size_t outer = around_[open];
  const Scope around = outer >= size() ? Scope::file : scope(open);
  if (in_parentheses(open) || around == Scope::function || around == Scope::initializer) {
    return around == Scope::initializer ? around : Scope::function;
  }
  bool has_parameters = false, is_record = false, is_assigned = false;
  std::size_t last = size();
  for (std::size_t at = statement(open); at < open; at = next(at)) {
    last = at;
    if (is_attribute(at)) {
      at = partners_[at];
    } else if (tokens_[at].is("template") && is(next(at), "<")) {
      at = after_angles(next(at));
      if (at >= open) break;
    } else if (is_one_of(tokens_[at].text, {"decltype", "alignas", "__attribute__", "noexcept"}) &&
               is(next(at), "(")) {
      at = partners_[next(at)];
      if (at >= open) break;
    } else if (tokens_[at].is("(")) {
      has_parameters = true;
      at = partners_[at];
      if (at >= open) break;
    } else if (tokens_[at].is("=") && !is(previous(at), "operator")) {
      is_assigned = true;
    } else if (tokens_[at].is("namespace") || tokens_[at].is("extern")) {
      return Scope::file;
    } else if (!has_parameters &&
               is_one_of(tokens_[at].text, {"struct", "class", "union", "enum"})) {
      is_record = true;
    }
  }
  if (is_assigned && !has_parameters) return Scope::initializer;
  if (has_parameters) return Scope::function;
  // After the initializers of a constructor: S() : a{1} {
  if (last >= size() && is(previous(open), "}")) return Scope::function;
  return is_record ? Scope::record : Scope::initializer;
}

Source::Scope Source::scope(std::size_t at) const {
  std::size_t open = around_[at];
  while (open < size() && !tokens_[open].is("{")) open = around_[open];
  return open < size() ? scopes_[open] : Scope::file;
}

std::size_t Source::after_angles(std::size_t at) const {
  int depth = 0;
  for (; at < size(); at = next(at)) {
    const Token& token = tokens_[at];
    if (token.is("<")) ++depth;
    if (token.is(">") && --depth == 0) return at;
    if (token.is(";") || token.is("}") || token.is(")") || token.is("]")) break;
    if (token.is("(") || token.is("[") || token.is("{")) {
      at = partners_[at];
      if (at >= size()) break;
    }
  }
  return size();
}

std::size_t Source::before_angles(std::size_t at) const {
  int depth = 0;
  for (; at < size(); at = previous(at)) {
    const Token& token = tokens_[at];
    if (token.is(">")) ++depth;
    if (token.is("<") && --depth == 0) return at;
    if (token.is(";") || token.is("{") || token.is("(") || token.is("[")) break;
    if (token.is(")") || token.is("]") || token.is("}")) {
      at = partners_[at];
      if (at >= size()) break;
    }
  }
  return size();
}

bool Source::is_attribute(std::size_t at) const {
  if (!is(at, "[")) return false;
  const std::size_t inner = next(at), end = partners_[at];
  return is(inner, "[") && end < size() && partners_[inner] == previous(end);
}

std::size_t Source::after_attributes(std::size_t at) const {
  while (at < size() && is_attribute(at)) at = next(partners_[at]);
  return at;
}

std::size_t Source::statement(std::size_t at) const {
  std::size_t first = at;
  for (std::size_t before = previous(at); before < size(); before = previous(before)) {
    const Token& token = tokens_[before];
    if (token.is(";") || token.is("{") || token.is("}")) break;
    if (token.is("(") || token.is("[")) break;
    const std::size_t access = previous(before);  // public:
    if (token.is(":") && access < size() &&
        is_one_of(tokens_[access].text, {"public", "private", "protected"})) {
      break;
    }
    if ((token.is(")") || token.is("]")) && partners_[before] < size()) before = partners_[before];
    first = before;
  }
  return first;
}

std::string Source::namespaces(std::size_t at) const {
  std::string path;
  for (std::size_t open = around_[at]; open < size(); open = around_[open]) {
    const std::size_t first = statement(open);
    if (!is(first, "namespace") && !is(first, "inline")) continue;
    std::string name;
    for (std::size_t each = first; each < open; each = next(each)) {
      if (!is(each, "namespace") && !is(each, "inline")) name += tokens_[each].text;
    }
    if (!name.empty()) path.insert(0, name + "::");
  }
  return path;
}

std::string Source::text(std::size_t from, std::size_t to) const {
  std::string result;
  bool had_blank = false;
  for (std::size_t at = from; at < std::min(to, size()); ++at) {
    const Token& token = tokens_[at];
    if (is_blank(token)) {
      had_blank = had_blank || !token.text.empty();
      continue;
    }
    if (had_blank && !result.empty()) result += ' ';
    had_blank = false;
    result += token.text;
  }
  return result;
}

void Source::erase(std::size_t from, std::size_t to) {
  for (std::size_t at = from; at < std::min(to, size()); ++at) {
    if (!is_blank(tokens_[at])) tokens_[at].text.clear();
  }
}

std::string Source::text() const {
  std::string result;
  for (const Token& token : tokens_) result += token.text;
  return result;
}

}  // namespace rung::emu::metal
