#include "vgpu/ptx/constant.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <limits>
#include <string>

#include "vgpu/ptx/limits.hpp"

namespace rung::vgpu::ptx {

namespace {

using ConstantKind = Constant::Kind;

Constant from_real(double value) {
  return {ConstantKind::f64, std::bit_cast<std::uint64_t>(value)};
}
Constant from_bool(bool value) { return {ConstantKind::s64, value ? 1U : 0U}; }

bool is_true(const Constant& c) { return c.is_integer() ? c.bits != 0 : c.real() != 0; }

/// The ConstantKind of a result, after its operands are converted to a common kind (PTX ISA,
/// 4.5.5).
ConstantKind common_kind(const Constant& a, const Constant& b) {
  if (!a.is_integer() || !b.is_integer()) return ConstantKind::f64;
  return a.kind == ConstantKind::u64 || b.kind == ConstantKind::u64 ? ConstantKind::u64
                                                                    : ConstantKind::s64;
}

Constant convert(const Constant& c, ConstantKind kind) {
  return kind == ConstantKind::f64 ? from_real(c.real()) : Constant{kind, c.bits};
}

/// Binary operators by precedence, lowest first, as in C.
constexpr std::array<std::array<std::string_view, 4>, 10> levels = {{{"||"},
                                                                     {"&&"},
                                                                     {"|"},
                                                                     {"^"},
                                                                     {"&"},
                                                                     {"==", "!="},
                                                                     {"<", "<=", ">", ">="},
                                                                     {"<<", ">>"},
                                                                     {"+", "-"},
                                                                     {"*", "/", "%"}}};

int precedence(const Token& token) {
  if (token.kind != Token::Kind::punctuation) return -1;
  for (std::size_t level = 0; level < levels.size(); ++level) {
    for (const std::string_view op : levels[level]) {
      if (!op.empty() && op == token.text) return static_cast<int>(level);
    }
  }
  return -1;
}

template <class T>
Constant compare(std::string_view op, T a, T b) {
  if (op == "==") return from_bool(a == b);
  if (op == "!=") return from_bool(a != b);
  if (op == "<") return from_bool(a < b);
  if (op == "<=") return from_bool(a <= b);
  if (op == ">") return from_bool(a > b);
  return from_bool(a >= b);
}

bool is_comparison(std::string_view op) {
  return op == "==" || op == "!=" || op == "<" || op == "<=" || op == ">" || op == ">=";
}

std::uint64_t shift(std::string_view op, const Constant& a, std::uint64_t by) {
  const bool negative = a.kind == ConstantKind::s64 && static_cast<std::int64_t>(a.bits) < 0;
  if (by >= 64) return op == ">>" && negative ? ~std::uint64_t{0} : 0;
  if (op == "<<") return a.bits << by;
  return negative ? ~(~a.bits >> by) : a.bits >> by;
}

class ExpressionParser {
 public:
  explicit ExpressionParser(Lexer& lexer) : lexer_(lexer) {}

  Constant conditional() {
    const Nesting nesting(*this);
    const Constant condition = binary(0);
    if (!lexer_.accept("?")) return condition;
    const Constant yes = conditional();
    lexer_.expect(":");
    const Constant no = conditional();
    return convert(is_true(condition) ? yes : no, common_kind(yes, no));
  }

 private:
  /// Limits recursion, so that a text with a million '(' is an error instead of a stack overflow.
  struct Nesting {
    explicit Nesting(ExpressionParser& expression) : parser(expression) {
      if (++parser.depth_ > limits::deepest_expression) {
        parser.fail(fmt::format("constant expression nested more than {} deep",
                                limits::deepest_expression));
      }
    }
    ~Nesting() { --parser.depth_; }
    ExpressionParser& parser;
  };

  [[noreturn]] void fail(const std::string& message) const {
    lexer_.fail(lexer_.peek().line, message);
  }

  Constant binary(int loosest) {
    Constant left = unary();
    for (int level = precedence(lexer_.peek()); level >= loosest;
         level = precedence(lexer_.peek())) {
      const std::string_view op = lexer_.take().text;
      const Nesting nesting(*this);
      left = apply(op, left, binary(level + 1));
    }
    return left;
  }

  Constant unary() {
    const Nesting nesting(*this);
    if (lexer_.accept("+")) return unary();
    if (lexer_.accept("-")) return negate(unary());
    if (lexer_.accept("!")) return from_bool(!is_true(unary()));
    if (lexer_.accept("~")) {
      const Constant c = integer(unary(), "~");
      return {c.kind, ~c.bits};
    }
    if (lexer_.accept("(")) return parenthesised();
    return primary();
  }

  Constant parenthesised() {
    if (lexer_.at(".s64") || lexer_.at(".u64")) {
      const ConstantKind kind =
          lexer_.take().text == ".s64" ? ConstantKind::s64 : ConstantKind::u64;
      lexer_.expect(")");
      return {kind, integer(unary(), "a cast").bits};
    }
    const Constant c = conditional();
    lexer_.expect(")");
    return c;
  }

  Constant primary() {
    if (lexer_.accept("WARP_SZ")) return {ConstantKind::s64, 32};
    const Token token = lexer_.peek();
    switch (token.kind) {
      case Token::Kind::integer: {
        lexer_.take();
        const bool wide = token.bits > std::uint64_t{std::numeric_limits<std::int64_t>::max()};
        return {wide || token.text.back() == 'U' ? ConstantKind::u64 : ConstantKind::s64,
                token.bits};
      }
      case Token::Kind::real: lexer_.take(); return {ConstantKind::f64, token.bits};
      case Token::Kind::single: lexer_.take(); return {ConstantKind::f32, token.bits};
      default: lexer_.fail_expected("a constant");
    }
  }

  static Constant negate(const Constant& c) {
    if (c.kind == ConstantKind::f32) return {c.kind, c.bits ^ 0x80000000U};
    if (c.kind == ConstantKind::f64) return from_real(-c.real());
    return {c.kind, 0 - c.bits};
  }

  Constant integer(const Constant& c, std::string_view op) const {
    if (!c.is_integer()) fail(fmt::format("{} applies to integers only", op));
    return c;
  }

  Constant apply(std::string_view op, const Constant& a, const Constant& b) const {
    if (op == "&&") return from_bool(is_true(a) && is_true(b));
    if (op == "||") return from_bool(is_true(a) || is_true(b));
    if (op == "<<" || op == ">>") {
      return {a.kind, shift(op, integer(a, op), integer(b, op).bits)};
    }
    const ConstantKind kind = common_kind(a, b);
    if (kind == ConstantKind::f64) return apply_real(op, a.real(), b.real());
    if (is_comparison(op)) {
      if (kind == ConstantKind::u64) return compare(op, a.bits, b.bits);
      return compare(op, static_cast<std::int64_t>(a.bits), static_cast<std::int64_t>(b.bits));
    }
    if (op == "+") return {kind, a.bits + b.bits};
    if (op == "-") return {kind, a.bits - b.bits};
    if (op == "*") return {kind, a.bits * b.bits};
    if (op == "&") return {kind, a.bits & b.bits};
    if (op == "|") return {kind, a.bits | b.bits};
    if (op == "^") return {kind, a.bits ^ b.bits};
    return {kind, divide(op, kind, a.bits, b.bits)};
  }

  Constant apply_real(std::string_view op, double a, double b) const {
    if (is_comparison(op)) return compare(op, a, b);
    if (op == "+") return from_real(a + b);
    if (op == "-") return from_real(a - b);
    if (op == "*") return from_real(a * b);
    if (op == "/" && b == 0) fail("division by zero in a constant expression");
    if (op == "/") return from_real(a / b);
    fail(fmt::format("{} applies to integers only", op));
  }

  std::uint64_t divide(std::string_view op, ConstantKind kind, std::uint64_t a,
                       std::uint64_t b) const {
    if (b == 0) fail("division by zero in a constant expression");
    if (kind == ConstantKind::u64) return op == "/" ? a / b : a % b;
    // The most negative integer divided by -1 overflows. It wraps, like a negation.
    if (b == ~std::uint64_t{0}) return op == "/" ? 0 - a : 0;
    const auto x = static_cast<std::int64_t>(a);
    const auto y = static_cast<std::int64_t>(b);
    return static_cast<std::uint64_t>(op == "/" ? x / y : x % y);
  }

  Lexer& lexer_;
  int depth_ = 0;
};

}  // namespace

double Constant::real() const {
  switch (kind) {
    case ConstantKind::s64: return static_cast<double>(static_cast<std::int64_t>(bits));
    case ConstantKind::u64: return static_cast<double>(bits);
    case ConstantKind::f64: return std::bit_cast<double>(bits);
    default: return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  }
}

bool at_constant(const Lexer& lexer) {
  const auto is_name = [](const Token& token) {
    return token.kind == Token::Kind::identifier && token.text != "WARP_SZ";
  };
  switch (lexer.peek().kind) {
    case Token::Kind::integer:
    case Token::Kind::real:
    case Token::Kind::single: return true;
    case Token::Kind::identifier: return lexer.at("WARP_SZ");
    default: break;
  }
  if (lexer.at("-") || lexer.at("!")) return !is_name(lexer.peek_second());
  return lexer.at("(") || lexer.at("+") || lexer.at("~");
}

Constant parse_constant(Lexer& lexer) { return ExpressionParser(lexer).conditional(); }

std::int64_t parse_integer(Lexer& lexer, std::string_view what) {
  const int line = lexer.peek().line;
  if (!at_constant(lexer)) lexer.fail_expected(what);
  const Constant c = parse_constant(lexer);
  if (!c.is_integer()) {
    lexer.fail(line, fmt::format("expected {}, an integer, found {}", what, c.real()));
  }
  return static_cast<std::int64_t>(c.bits);
}

std::int64_t parse_literal(Lexer& lexer, std::string_view what, std::int64_t least,
                           std::int64_t most) {
  const Token token = lexer.expect(Token::Kind::integer, what);
  const auto value = static_cast<std::int64_t>(token.bits);
  if (value < least || value > most) {
    lexer.fail(token.line,
               fmt::format("{} is {}, allowed are {} to {}", what, token.text, least, most));
  }
  return value;
}

}  // namespace rung::vgpu::ptx
