#include "tools/layout/expression.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace rung::layout {
namespace {

/// The operators of one level, from the loosest to the tightest.
const std::array<std::vector<std::string_view>, 6> levels = {
    {{"|"}, {"^"}, {"&"}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}}};

class Parser {
 public:
  Parser(const std::string& text, int lane) : text_(text), lane_(lane) {}

  std::int64_t whole() {
    const std::int64_t value = level(0);
    skip();
    if (at_ != text_.size()) fail("expected an operator");
    return value;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw std::invalid_argument(fmt::format("'{}': {} at position {}", text_, what, at_ + 1));
  }
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool takes(std::string_view word) {
    skip();
    if (text_.compare(at_, word.size(), word) != 0) return false;
    at_ += word.size();
    return true;
  }

  std::int64_t level(std::size_t depth) {
    if (depth == levels.size()) return operand();
    std::int64_t value = level(depth + 1);
    for (bool more = true; more;) {
      more = false;
      for (const std::string_view sign : levels.at(depth)) {
        if (!takes(sign)) continue;
        value = applied(sign, value, level(depth + 1));
        more = true;
      }
    }
    return value;
  }

  std::int64_t applied(std::string_view sign, std::int64_t x, std::int64_t y) const {
    const auto a = static_cast<std::uint64_t>(x), b = static_cast<std::uint64_t>(y);
    if (sign.size() == 2 && (y < 0 || y > 31)) fail("a shift by 0 to 31 is expected");
    if (sign == "<<") return static_cast<std::int64_t>(a << b);
    if (sign == ">>") return x >> y;
    switch (sign.front()) {
      case '|': return x | y;
      case '^': return x ^ y;
      case '&': return x & y;
      case '+': return static_cast<std::int64_t>(a + b);
      case '-': return static_cast<std::int64_t>(a - b);
      case '*': return static_cast<std::int64_t>(a * b);
      default: break;
    }
    if (y == 0) fail("a division by zero");
    if (y == -1) return sign == "/" ? static_cast<std::int64_t>(0 - a) : 0;
    return sign == "/" ? x / y : x % y;
  }

  std::int64_t operand() {
    if (takes("(")) {
      const std::int64_t value = level(0);
      if (!takes(")")) fail("expected ')'");
      return value;
    }
    if (takes("lane")) return lane_;
    skip();
    const bool hex = text_.compare(at_, 2, "0x") == 0;
    std::int32_t value = 0;
    const char* const from = text_.data() + at_ + (hex ? 2 : 0);
    const auto read = std::from_chars(from, text_.data() + text_.size(), value, hex ? 16 : 10);
    if (read.ec != std::errc() || value < 0) fail("expected a number, lane or '('");
    at_ = static_cast<std::size_t>(read.ptr - text_.data());
    return value;
  }

  const std::string& text_;
  int lane_;
  std::size_t at_ = 0;
};

}  // namespace

std::int64_t value_of(const std::string& expression, int lane) {
  return Parser(expression, lane).whole();
}

}  // namespace rung::layout
