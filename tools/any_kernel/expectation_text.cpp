// The grammar of expectations.

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "tools/any_kernel/expectation.hpp"

namespace rung::any_kernel {
namespace {

constexpr const char* examples =
    "write C = A B, C = alpha A^T B + beta C, r = dot(x, y), r = sum(x) or C=FILE.npy";

class Parser {
 public:
  explicit Parser(const std::string& text) : text_(text), rest_(text_) {}

  Expectation parse() {
    Expectation expected;
    expected.text = text_;
    parse_result(expected);
    require("=");
    skip_blanks();
    if (is_file(rest_)) {
      expected.kind = Expectation::Kind::file;
      expected.path = rest_.substr(rest_.starts_with('@') ? 1 : 0);
      return expected;
    }
    expected.alpha = parse_factor();
    if (!parse_function(expected)) parse_product(expected);
    skip_blanks();
    if (!rest_.empty()) fail();
    return expected;
  }

 private:
  static bool is_file(std::string_view text) {
    return text.starts_with('@') || text.ends_with(".npy");
  }

  [[noreturn]] void fail() const {
    throw ArgumentError(fmt::format("--expect: '{}' is not understood{}; {}", text_,
                                    rest_.empty() ? "" : fmt::format(" from '{}' on", rest_),
                                    examples));
  }
  void skip_blanks() {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
  }
  bool accept(std::string_view what) {
    skip_blanks();
    if (!rest_.starts_with(what)) return false;
    rest_.remove_prefix(what.size());
    return true;
  }
  void require(std::string_view what) {
    if (!accept(what)) fail();
  }
  /// A name such as "args.x", or the index of an unnamed parameter; empty if the text begins with neither.
  std::string take_name() {
    skip_blanks();
    std::size_t length = 0;
    while (length < rest_.size() &&
           (std::isalnum(static_cast<unsigned char>(rest_[length])) != 0 || rest_[length] == '_' ||
            (rest_[length] == '.' && length > 0 &&
             std::isdigit(static_cast<unsigned char>(rest_.front())) == 0))) {
      ++length;
    }
    std::string name(rest_.substr(0, length));
    rest_.remove_prefix(length);
    return name;
  }
  std::string require_name() {
    std::string name = take_name();
    if (name.empty()) fail();
    return name;
  }
  std::int64_t require_integer() {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc()) fail();
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }

  void parse_result(Expectation& expected) {
    expected.result = require_name();
    if (expected.result == "sum" && accept("(")) {
      expected.sums_result = true;
      expected.result = require_name();
      require(")");
    } else if (accept("[")) {
      expected.element = require_integer();
      require("]");
    }
  }

  std::optional<double> take_number() {
    skip_blanks();
    const std::string text(rest_);
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    const auto length = static_cast<std::size_t>(end - text.c_str());
    // "2A" is no number, and "inf" and "nan" are names.
    const bool begins_name =
        !text.empty() && std::isalpha(static_cast<unsigned char>(text.front())) != 0;
    if (length == 0 || begins_name) return std::nullopt;
    rest_.remove_prefix(length);
    accept("*");
    return value;
  }

  Factor parse_factor() {
    Factor factor;
    if (const auto number = take_number()) factor.number = *number;
    return factor;
  }

  bool parse_function(Expectation& expected) {
    const std::string_view begin = rest_;
    const std::string name = take_name();
    const bool is_function = (name == "dot" || name == "sum") && accept("(");
    if (!is_function) {
      rest_ = begin;
      return false;
    }
    expected.kind = name == "dot" ? Expectation::Kind::dot : Expectation::Kind::sum;
    expected.operands.push_back({require_name(), false});
    if (name == "dot") {
      require(",");
      expected.operands.push_back({require_name(), false});
    }
    require(")");
    return true;
  }

  Operand parse_operand() {
    Operand operand{require_name(), false};
    operand.transposed = accept("^T");
    return operand;
  }

  /// [alpha] A B [+ beta C]
  void parse_product(Expectation& expected) {
    std::vector<Operand> names = parse_operands();
    if (names.size() == 3 && !names.front().transposed) {
      expected.alpha.name = names.front().name;
      names.erase(names.begin());
    }
    if (names.size() != 2) fail();
    expected.operands = names;
    if (!accept("+")) return;
    expected.beta = parse_factor();
    names = parse_operands();
    if (names.size() == 2) {
      expected.beta->name = names.front().name;
      names.erase(names.begin());
    }
    if (names.size() != 1 || names.front().transposed || names.front().name != expected.result)
      fail();
  }

  std::vector<Operand> parse_operands() {
    std::vector<Operand> operands = {parse_operand()};
    for (;;) {
      accept("*");
      skip_blanks();
      if (rest_.empty() || rest_.front() == '+') return operands;
      operands.push_back(parse_operand());
    }
  }

  std::string text_;
  std::string_view rest_;
};

}  // namespace

Expectation parse_expectation(const std::string& text) { return Parser(text).parse(); }

}  // namespace rung::any_kernel
