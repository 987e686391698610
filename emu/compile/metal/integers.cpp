#include "emu/compile/metal/integers.hpp"

#include <cstdlib>

namespace rung::emu::metal {
namespace {

using Value = std::optional<std::int64_t>;
using Names = std::map<std::string, std::int64_t>;

/// Reads tokens [at, end) by precedence climbing.
class Expression {
 public:
  Expression(const Source& source, const Names& names, std::size_t at, std::size_t end)
      : source_(source), names_(names), at_(at), end_(end) {
    if (source_[at].kind == TokenKind::space) at_ = source.next(at);
  }

  Value whole() {
    const Value value = binary(0);
    return at_ >= end_ ? value : std::nullopt;
  }

 private:
  /// The operator at `at_` with its precedence and its number of tokens; 0 without one.
  struct Operator {
    char symbol = 0;
    int precedence = 0;
    int tokens = 1;
  };

  bool is(const char* text) const { return at_ < end_ && source_.is(at_, text); }

  Operator peek() const {
    if (at_ >= end_) return {};
    const std::size_t after = source_.next(at_);
    if (is("<") && source_.is(after, "<")) return {'l', 3, 2};
    if (is(">") && source_.is(after, ">")) return {'r', 3, 2};
    if (is("|")) return {'|', 1};
    if (is("&")) return {'&', 2};
    if (is("+") || is("-")) return {source_[at_].text[0], 4};
    if (is("*") || is("/") || is("%")) return {source_[at_].text[0], 5};
    return {};
  }

  Value binary(int least) {
    Value left = unary();
    for (Operator each = peek(); left && each.precedence > least; each = peek()) {
      for (int i = 0; i < each.tokens; ++i) at_ = source_.next(at_);
      const Value right = binary(each.precedence);
      if (!right) return std::nullopt;
      left = apply(each.symbol, *left, *right);
    }
    return left;
  }

  static Value apply(char symbol, std::int64_t a, std::int64_t b) {
    switch (symbol) {
      case '|': return a | b;
      case '&': return a & b;
      case '+': return a + b;
      case '-': return a - b;
      case '*': return a * b;
      case '/': return b == 0 ? Value() : a / b;
      case '%': return b == 0 ? Value() : a % b;
      case 'l': return b < 0 || b > 62 ? Value() : a << b;
      default: return b < 0 || b > 62 ? Value() : a >> b;
    }
  }

  Value unary() {
    if (is("-") || is("+")) {
      const bool is_minus = is("-");
      at_ = source_.next(at_);
      const Value value = unary();
      return value && is_minus ? Value(-*value) : value;
    }
    if (is("(")) {
      const std::size_t close = source_.partner(at_);
      const Value value = Expression(source_, names_, source_.next(at_), close).whole();
      at_ = source_.next(close);
      return value;
    }
    return operand();
  }

  Value operand() {
    if (at_ >= end_) return std::nullopt;
    if (source_[at_].kind == TokenKind::number) {
      char* end = nullptr;
      const std::string& text = source_[at_].text;
      const std::int64_t value = std::strtoll(text.c_str(), &end, 0);
      const bool is_whole =
          std::string_view(end).find_first_not_of("uUlL") == std::string_view::npos;
      at_ = source_.next(at_);
      return is_whole ? Value(value) : std::nullopt;
    }
    if (!source_.is_word(at_)) return std::nullopt;
    std::size_t name = at_;
    while (source_.is(source_.next(name), "::")) name = source_.next(source_.next(name));
    const auto found = source_.is_word(name) ? names_.find(source_[name].text) : names_.end();
    at_ = source_.next(name);
    return found == names_.end() ? std::nullopt : Value(found->second);
  }

  const Source& source_;
  const Names& names_;
  std::size_t at_, end_;
};

}  // namespace

Integers::Integers(const Source& source) : source_(source) {
  for (std::size_t at = 0; at < source.size(); ++at) {
    const Source::Scope scope = source.scope(at);
    const bool is_outside = scope == Source::Scope::file || scope == Source::Scope::record;
    if (source.is(at, "{") && source.is(source.statement(at), "enum")) add_enumerators(at);
    if (source.is(at, "{") && source.is(source.statement(at), "typedef") &&
        source.is(source.next(source.statement(at)), "enum")) {
      add_enumerators(at);
    }
    if (is_outside && source.is(at, "=") && !source.in_parentheses(at)) add_constant(at);
  }
}

Value Integers::value(std::size_t from, std::size_t to) const {
  return Expression(source_, values_, from, to).whole();
}

void Integers::add_enumerators(std::size_t open) {
  const std::size_t close = source_.partner(open);
  Value next = 0;
  for (std::size_t at = source_.next(open); at < close; at = source_.next(at)) {
    if (!source_.is_word(at)) continue;
    const std::string& name = source_[at].text;
    std::size_t end = at;
    while (end < close && !source_.is(end, ",")) {
      end = source_.next(source_.is(end, "(") ? source_.partner(end) : end);
    }
    const std::size_t equals = source_.next(at);
    if (source_.is(equals, "=")) next = value(source_.next(equals), end);
    if (next) values_[name] = (*next)++;
    at = end;
  }
}

void Integers::add_constant(std::size_t equals) {
  const std::size_t name = source_.previous(equals);
  std::size_t end = equals;
  while (end < source_.size() && !source_.is(end, ";")) end = source_.next(end);
  if (!source_.is_word(name) || end >= source_.size()) return;
  if (const auto known = value(source_.next(equals), end))
    values_.emplace(source_[name].text, *known);
}

}  // namespace rung::emu::metal
