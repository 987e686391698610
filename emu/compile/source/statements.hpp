#pragma once
// Declarations and definitions at the level of namespaces and classes, by their tokens.

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "emu/compile/source/tokens.hpp"

namespace rung::emu {

/// The innermost class or namespace; the global namespace, and one without a name, has none.
struct Enclosing {
  std::string_view name;
  bool is_class;
};

/// Tokens from `first` up to `end`, before `;` or `{`, at the level of namespaces or of a class.
struct Statement {
  std::size_t first, end;
  Enclosing scope;
  bool is_definition;
};

void for_each_statement(const Tokens& tokens,
                        const std::function<void(const Statement&)>& statement);

/// Behind the bracket that closes the one at `open`.
std::size_t after_brackets(const Tokens& tokens, std::size_t open, std::size_t end);

/// Where a function's name, with the classes before it, begins; and its parameters.
struct Head {
  std::size_t name, own_name, open, close;
};

std::optional<Head> head_of(const Tokens& tokens, const Statement& statement);

/// Behind `template <class T>`, where the statement begins with that; its own begin if not.
std::size_t after_template(const Tokens& tokens, const Statement& statement);

/// True for a word that may end a type and cannot be a parameter's name.
bool is_type_word(std::string_view word);

/// The parameters' types, without their names and default values.
std::string parameter_types(const Tokens& tokens, const Head& head);

}  // namespace rung::emu
