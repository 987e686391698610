#pragma once
// A source file that passes edit.

#include <string>
#include <vector>

#include "emu/compile/source/tokens.hpp"

namespace rung::emu {

/// Replaces `removed` characters from `at` on.
struct Edit {
  std::size_t at, removed;
  std::string text;
};
using Edits = std::vector<Edit>;

/// The text after the edits, which may be in any order. Edits at the same position keep their order.
std::string edited(std::string_view text, Edits edits);

/// A text and its tokens, which all passes read.
class SourceText {
 public:
  explicit SourceText(std::string text) : text_(std::move(text)) { read(); }
  SourceText(const SourceText&) = delete;
  SourceText& operator=(const SourceText&) = delete;

  const std::string& text() const { return text_; }
  const Tokens& tokens() const { return tokens_; }
  /// Tokens outside directives, without literals.
  const Tokens& code() const { return code_; }
  /// The text from the first token up to the end of the last one before `end`.
  std::string_view between(std::size_t first, std::size_t end) const {
    return std::string_view(text_).substr(tokens_[first].at,
                                          tokens_[end - 1].end() - tokens_[first].at);
  }
  /// As many line ends as the text has from `begin` to `end`, so that lines keep their numbers.
  std::string lines(std::size_t begin, std::size_t end) const;

  void apply(Edits edits);

 private:
  void read();

  std::string text_;
  Tokens tokens_, code_;
};

}  // namespace rung::emu
