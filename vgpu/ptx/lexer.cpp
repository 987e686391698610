#include "vgpu/ptx/lexer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <locale>
#include <sstream>
#include <utility>

#include "vgpu/ptx/parser.hpp"

namespace rung::vgpu::ptx {

namespace {

// Instead of <cctype>, because PTX is ASCII in every locale.
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool follows(char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '$'; }
bool is_printable(char c) { return c >= ' ' && c <= '~'; }

/// The value of a digit in bases up to 16; 16 if it is not a digit.
unsigned digit_value(char c) {
  if (is_digit(c)) return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
  return 16;
}

/// Returns the base of an integer literal, and removes its prefix from `text` (PTX ISA, 4.5.1).
unsigned take_base(std::string_view& text) {
  if (text.size() < 2 || text[0] != '0') return 10;
  const char second = text[1];
  const bool hexadecimal = second == 'x' || second == 'X';
  const bool binary = second == 'b' || second == 'B';
  text.remove_prefix(hexadecimal || binary ? 2 : 1);
  return hexadecimal ? 16 : binary ? 2 : 8;
}

/// Parses digits into `value`. Returns false if they are missing, invalid, or too many.
bool read_digits(std::string_view digits, unsigned base, std::uint64_t& value) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  value = 0;
  for (const char c : digits) {
    const unsigned digit = digit_value(c);
    if (digit >= base || value > (most - digit) / base) return false;
    value = value * base + digit;
  }
  return !digits.empty();
}

}  // namespace

std::string in_quotes(std::string_view text) {
  constexpr std::size_t longest = 40;
  std::string shown = "'";
  for (const char c : text.substr(0, longest)) {
    shown += is_printable(c) ? std::string(1, c)
                             : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return shown + (text.size() > longest ? "…'" : "'");
}

Lexer::Lexer(std::string_view text, std::string_view name) : rest_(text), name_(name) {
  ahead_[0] = lex();
  ahead_[1] = lex();
}

Token Lexer::take() {
  const Token taken = std::exchange(ahead_[0], ahead_[1]);
  ahead_[1] = lex();
  return taken;
}

bool Lexer::accept(std::string_view text) {
  if (!at(text)) return false;
  take();
  return true;
}

void Lexer::expect(std::string_view text) {
  if (!accept(text)) fail_expected(in_quotes(text));
}

Token Lexer::expect(Token::Kind kind, std::string_view what) {
  if (!at(kind)) fail_expected(what);
  return take();
}

void Lexer::fail_expected(std::string_view what) const {
  const std::string found = at(Token::Kind::end) ? "the end of the text" : in_quotes(peek().text);
  fail(peek().line, fmt::format("expected {}, found {}", what, found));
}

void Lexer::fail(int line, const std::string& message) const {
  throw ParseError(name_, line, message);
}

char Lexer::char_at(std::size_t ahead) const { return ahead < rest_.size() ? rest_[ahead] : '\0'; }

Token Lexer::token(Token::Kind kind, std::size_t length) {
  const Token made{kind, rest_.substr(0, length), 0, line_};
  rest_.remove_prefix(length);
  return made;
}

void Lexer::skip_blanks() {
  while (!rest_.empty()) {
    if (rest_.starts_with("//")) {
      rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
    } else if (rest_.starts_with("/*")) {
      const std::size_t end = rest_.find("*/", 2);
      if (end == std::string_view::npos) fail(line_, "comment without its '*/'");
      line_ += static_cast<int>(
          std::count(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
      rest_.remove_prefix(end + 2);
    } else if (std::string_view(" \t\n\r\v\f").find(rest_[0]) != std::string_view::npos) {
      if (rest_[0] == '\n') ++line_;
      rest_.remove_prefix(1);
    } else {
      return;
    }
  }
}

Token Lexer::lex() {
  skip_blanks();
  if (rest_.empty()) return token(Token::Kind::end, 0);
  const char first = rest_[0];
  if (is_digit(first)) return lex_number();
  if (first == '"') return lex_string();
  std::size_t length = 1;
  if (first == '.') {
    // A single colon ends a word; a double colon is part of it: `.shared::cta`.
    while (follows(char_at(length)) || (char_at(length) == ':' && char_at(length + 1) == ':')) {
      length += char_at(length) == ':' ? 2 : 1;
    }
    if (length == 1) fail(line_, "a '.' without a name");
    return token(Token::Kind::dotted, length);
  }
  if (is_letter(first) || first == '_' || first == '$' || (first == '%' && follows(char_at(1)))) {
    while (follows(char_at(length))) ++length;
    return token(Token::Kind::identifier, length);
  }
  for (const std::string_view two : {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||"}) {
    if (rest_.starts_with(two)) return token(Token::Kind::punctuation, 2);
  }
  if (std::string_view("{}[]()<>,;:@!|&^~+-*/%=?").find(first) == std::string_view::npos) {
    fail(line_, fmt::format("unexpected character {}", in_quotes(rest_.substr(0, 1))));
  }
  return token(Token::Kind::punctuation, 1);
}

Token Lexer::lex_string() {
  std::size_t end = rest_.find_first_of("\"\\\n", 1);
  while (end != std::string_view::npos && rest_[end] == '\\') {
    end = rest_.find_first_of("\"\\\n", end + 2);  // after the escaped character
  }
  if (end == std::string_view::npos || rest_[end] == '\n') {
    fail(line_, "string without its closing '\"'");
  }
  Token made = token(Token::Kind::string, end + 1);
  made.text = made.text.substr(1, end - 1);
  return made;
}

Token Lexer::lex_number() {
  std::size_t length = 1;
  while (follows(char_at(length))) ++length;
  const char second = char_at(1);
  if (rest_[0] == '0' && std::string_view("fFdD").find(second) != std::string_view::npos) {
    return lex_bit_pattern();
  }
  const bool prefixed = rest_[0] == '0' && is_letter(second);
  const bool exponent = rest_.substr(0, length).find_first_of("eE") != std::string_view::npos;
  if (!prefixed && (char_at(length) == '.' || exponent)) return lex_real();
  Token made = token(Token::Kind::integer, length);
  std::string_view digits = made.text;
  if (digits.back() == 'U') digits.remove_suffix(1);
  const unsigned base = take_base(digits);
  if (!read_digits(digits, base, made.bits)) {
    fail(line_, fmt::format("{} is not an integer of 64 bits", in_quotes(made.text)));
  }
  return made;
}

/// Lexes 0f and 8 hexadecimal digits, or 0d and 16 (PTX ISA, 4.5.2).
Token Lexer::lex_bit_pattern() {
  std::size_t length = 2;
  while (follows(char_at(length))) ++length;
  const bool single = rest_[1] == 'f' || rest_[1] == 'F';
  Token made = token(single ? Token::Kind::single : Token::Kind::real, length);
  const std::size_t digits = single ? 8 : 16;
  if (length != digits + 2 || !read_digits(made.text.substr(2), 16, made.bits)) {
    fail(line_, fmt::format("{} is not 0{} and {} hexadecimal digits", in_quotes(made.text),
                            single ? 'f' : 'd', digits));
  }
  return made;
}

Token Lexer::lex_real() {
  std::size_t length = 0;
  const auto skip_digits = [&] {
    while (is_digit(char_at(length))) ++length;
  };
  skip_digits();
  if (char_at(length) == '.') ++length;
  skip_digits();
  if (char_at(length) == 'e' || char_at(length) == 'E') {
    const bool is_signed = char_at(length + 1) == '+' || char_at(length + 1) == '-';
    length += is_signed ? 2 : 1;
    skip_digits();
  }
  const bool ends = !follows(char_at(length));
  Token made = token(Token::Kind::real, length);
  // Uses a stream, because strtod depends on the program's locale and libc++ lacks from_chars for
  // double.
  std::istringstream stream{std::string(made.text)};
  stream.imbue(std::locale::classic());
  double value = 0;
  stream >> value;
  if (!ends || stream.fail() || stream.peek() != std::istringstream::traits_type::eof()) {
    fail(line_, fmt::format("{} is not a number that a double holds", in_quotes(made.text)));
  }
  made.bits = std::bit_cast<std::uint64_t>(value);
  return made;
}

}  // namespace rung::vgpu::ptx
