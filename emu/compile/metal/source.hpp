#pragma once
// A preprocessed Metal file with its structure: brackets, namespaces, classes and functions. Passes
// rewrite the text of tokens in place, so positions and line numbers stay.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "emu/compile/metal/tokens.hpp"

namespace rung::emu::metal {

class Source {
 public:
  enum class Scope : std::uint8_t { file, record, function, initializer };

  explicit Source(std::string_view preprocessed);

  std::size_t size() const { return tokens_.size(); }
  Token& operator[](std::size_t at) { return tokens_[at]; }
  const Token& operator[](std::size_t at) const { return tokens_[at]; }
  bool is(std::size_t at, std::string_view text) const {
    return at < size() && tokens_[at].is(text);
  }
  bool is_word(std::size_t at) const { return at < size() && tokens_[at].kind == TokenKind::word; }
  const std::string& file(std::size_t at) const {
    return files_[static_cast<std::size_t>(tokens_[at].file)];
  }

  /// The next and the previous token that is neither blank nor a directive; size() at the end.
  std::size_t next(std::size_t at) const;
  std::size_t previous(std::size_t at) const;
  /// The bracket that closes or opens the one at `at`; size() if it is missing.
  std::size_t partner(std::size_t at) const { return partners_[at]; }
  bool is_balanced() const { return is_balanced_; }
  /// The `>` of the template arguments that begin at `at`; size() if they do not end.
  std::size_t after_angles(std::size_t at) const;
  /// The `<` of the template arguments that end at `at`; size() if they do not end.
  std::size_t before_angles(std::size_t at) const;
  /// True if `at` begins an attribute: [[.
  bool is_attribute(std::size_t at) const;
  /// The first token after attributes, from `at` on.
  std::size_t after_attributes(std::size_t at) const;

  /// The scope that contains the token.
  Scope scope(std::size_t at) const;
  /// The bracket around the token; size() at file scope.
  std::size_t around(std::size_t at) const { return around_[at]; }
  bool in_parentheses(std::size_t at) const {
    return around_[at] < size() && !tokens_[around_[at]].is("{");
  }
  /// The first token of the statement or declaration that contains the token, within its brackets.
  std::size_t statement(std::size_t at) const;
  /// "a::b::" for a token in these namespaces.
  std::string namespaces(std::size_t at) const;

  /// The text of tokens [from, to), blanks reduced to one.
  std::string text(std::size_t from, std::size_t to) const;
  /// Removes tokens [from, to), and leaves line breaks.
  void erase(std::size_t from, std::size_t to);
  /// The whole rewritten text.
  std::string text() const;

 private:
  void match_brackets();
  Scope scope_of_brace(std::size_t open) const;

  std::vector<Token> tokens_;
  std::vector<std::string> files_;
  std::vector<std::size_t> partners_, around_;
  std::vector<Scope> scopes_;  // of the braces
  bool is_balanced_ = true;
};

}  // namespace rung::emu::metal
