#include "emu/compile/metal/tokens.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace rung::emu::metal {
namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_white(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f'; }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) { tokens_.files.emplace_back(); }

  Tokens all() {
    while (at_ < text_.size()) one();
    return std::move(tokens_);
  }

 private:
  void one() {
    const char c = text_[at_];
    if (is_white(c)) return take(TokenKind::space, end_while(at_, is_white));
    if (c == '#' && begins_line()) return directive();
    if (c == '"' || c == '\'') return take(TokenKind::literal, after_literal(c));
    if (is_letter(c)) {
      return take(TokenKind::word,
                  end_while(at_, [](char each) { return is_letter(each) || is_digit(each); }));
    }
    const bool is_fraction = c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]);
    if (is_digit(c) || is_fraction) return take(TokenKind::number, after_number());
    take(TokenKind::symbol, at_ + symbol_length());
  }

  template <class Condition>
  std::size_t end_while(std::size_t from, const Condition& condition) const {
    while (from < text_.size() && condition(text_[from])) ++from;
    return from;
  }

  bool begins_line() const {
    std::size_t at = at_;
    while (at > 0 && (text_[at - 1] == ' ' || text_[at - 1] == '\t')) --at;
    return at == 0 || text_[at - 1] == '\n';
  }

  std::size_t after_literal(char quote) const {
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != quote && text_[end] != '\n') {
      end += text_[end] == '\\' ? 2 : 1;
    }
    return std::min(end + 1, text_.size());
  }

  std::size_t after_number() const {
    const bool is_hexadecimal = text_.substr(at_, 2) == "0x" || text_.substr(at_, 2) == "0X";
    std::size_t end = at_ + 1;
    for (; end < text_.size(); ++end) {
      const char c = text_[end], before = text_[end - 1];
      const bool follows_exponent =
          is_hexadecimal ? before == 'p' || before == 'P' : before == 'e' || before == 'E';
      const bool is_sign = (c == '+' || c == '-') && follows_exponent;
      if (!is_letter(c) && !is_digit(c) && c != '.' && c != '\'' && !is_sign) break;
    }
    return end;
  }

  std::size_t symbol_length() const {
    constexpr std::array<std::string_view, 16> longer = {
        "::", "->", "&&", "||", "==", "!=", "<=", ">=",
        "+=", "-=", "*=", "/=", "|=", "&=", "++", "--"};
    const std::string_view two = text_.substr(at_, 2);
    return std::ranges::find(longer, two) == longer.end() ? 1 : 2;
  }

  /// `# 12 "file.metal"` sets the position of the next line.
  void directive() {
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    std::string_view rest = text_.substr(at_ + 1, end - at_ - 1);
    take(TokenKind::directive, end);
    if (rest.starts_with("line")) rest.remove_prefix(4);
    while (rest.starts_with(' ')) rest.remove_prefix(1);
    int line = 0;
    const auto [after, error] = std::from_chars(rest.data(), rest.data() + rest.size(), line);
    if (error != std::errc()) return;
    line_ = line - 1;  // the line break that follows leads to the named line
    const std::size_t open = rest.find('"'), close = rest.rfind('"');
    if (open == rest.npos || close == open) return;
    const std::string_view file = rest.substr(open + 1, close - open - 1);
    const auto found = std::ranges::find(tokens_.files, file);
    file_ = static_cast<int>(found - tokens_.files.begin());
    if (found == tokens_.files.end()) tokens_.files.emplace_back(file);
  }

  void take(TokenKind kind, std::size_t end) {
    const std::string_view text = text_.substr(at_, end - at_);
    tokens_.all.push_back({kind, std::string(text), line_, file_});
    line_ += static_cast<int>(std::ranges::count(text, '\n'));
    at_ = end;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1, file_ = 0;
  Tokens tokens_;
};

}  // namespace

Tokens split_tokens(std::string_view text) { return Lexer(text).all(); }

}  // namespace rung::emu::metal
