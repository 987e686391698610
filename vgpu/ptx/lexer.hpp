#pragma once
// Splits PTX text into tokens (PTX ISA, 4.1 to 4.5).

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace rung::vgpu::ptx {

struct Token {
  enum class Kind : std::uint8_t {
    end,
    identifier,   // %r1, $L__BB0_2, foo, _
    dotted,       // .global, .L1::no_allocate: including the dot
    integer,      // 7, 0x1F, 017, 0b101, 7U
    real,         // 1.5, 1e-3, 0d3FF0000000000000: bits is an IEEE double
    single,       // 0f3F800000: bits is an IEEE single
    string,       // "text": `text` excludes the quotes
    punctuation,  // one or two characters: { [ << ==
  };
  Kind kind = Kind::end;
  std::string_view text;
  std::uint64_t bits = 0;
  int line = 1;
};

/// A stream of tokens with a lookahead of two. Errors are ParseErrors with the text's name and the
/// line.
class Lexer {
 public:
  Lexer(std::string_view text, std::string_view name);

  const Token& peek() const { return ahead_[0]; }
  const Token& peek_second() const { return ahead_[1]; }
  Token take();

  /// True if the next token is `text`: punctuation, dotted, or an identifier.
  bool at(std::string_view text) const { return is(ahead_[0], text); }
  bool second_is(std::string_view text) const { return is(ahead_[1], text); }
  bool at(Token::Kind kind) const { return ahead_[0].kind == kind; }
  /// Consumes the next token if it is `text`. Returns true if it was.
  bool accept(std::string_view text);
  /// Consumes the next token, which must be `text`.
  void expect(std::string_view text);
  /// Consumes the next token, which must be of that kind. `what`: its name in messages.
  Token expect(Token::Kind kind, std::string_view what);

  /// Fails with "expected WHAT, found 'x'", for the next token.
  [[noreturn]] void fail_expected(std::string_view what) const;
  [[noreturn]] void fail(int line, const std::string& message) const;

 private:
  static bool is(const Token& token, std::string_view text) {
    return token.text == text && token.kind != Token::Kind::string;
  }
  Token lex();
  Token lex_number();
  Token lex_bit_pattern();
  Token lex_real();
  Token lex_string();
  void skip_blanks();
  Token token(Token::Kind kind, std::size_t length);
  char char_at(std::size_t ahead) const;

  std::string_view rest_;
  std::string_view name_;
  int line_ = 1;
  std::array<Token, 2> ahead_;
};

/// `text` in quotes for a one-line message: shortened, with unprintable bytes as \xNN.
std::string in_quotes(std::string_view text);

}  // namespace rung::vgpu::ptx
