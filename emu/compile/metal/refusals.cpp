// Words and declarations of C++ that Metal lacks, and that clang would accept.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "emu/compile/metal/passes.hpp"

namespace rung::emu::metal {
namespace {

struct Refusal {
  std::string_view word, message;
};

/// Metal Shading Language Specification 4, sections 1.5.4 and 2.1.
constexpr auto refused_words = std::to_array<Refusal>({
    {"double", "Metal has no double: use float"},
    {"goto", "Metal has no goto: use a loop, break, continue or return"},
    {"try", "Metal has no exceptions: return a status"},
    {"throw", "Metal has no exceptions: return a status"},
    {"new", "Metal has no new: use an array, or memory of a buffer"},
    {"delete", "Metal has no delete: use an array, or memory of a buffer"},
    {"virtual", "Metal has no virtual functions: use a template"},
    {"dynamic_cast", "Metal has no types at run time: use a template"},
    {"typeid", "Metal has no types at run time: use a template"},
    {"thread_local", "Metal has no thread_local: variables of a function belong to the thread"},
    {"register", "Metal has no register: leave the word out"},
});

/// True for `= delete`, which declares a function that cannot be called.
bool deletes_function(const Source& source, std::size_t at) {
  return source.is(at, "delete") && source.is(source.previous(at), "=") &&
         source.is(source.next(at), ";");
}

bool names_operator(const Source& source, std::size_t at) {
  return source.is(source.previous(at), "operator");
}

bool declares_main(const Source& source, std::size_t at) {
  return source.is(at, "main") && source.scope(at) == Source::Scope::file &&
         source.is(source.next(at), "(") && source.is_word(source.previous(at));
}

bool has_word(const Source& source, std::size_t from, std::size_t to,
              std::initializer_list<std::string_view> words) {
  for (; from < to; from = source.next(from)) {
    if (std::ranges::find(words, std::string_view(source[from].text)) != words.end()) return true;
  }
  return false;
}

/// True for `static int n = 0;` in a function.
bool declares_static_local(const Source& source, std::size_t at) {
  if (!source.is(at, "static") || source.scope(at) != Source::Scope::function) return false;
  std::size_t end = at;
  while (end < source.size() && !source.is(end, ";") && !source.is(end, "=") &&
         !source.is(end, "{")) {
    end = source.next(end);
  }
  return !has_word(source, source.statement(at), end, {"constant", "threadgroup", "constexpr"});
}

/// True for `static const int n = 3;` in a class.
bool declares_static_member(const Source& source, std::size_t at) {
  if (!source.is(at, "static") || source.scope(at) != Source::Scope::record) return false;
  std::size_t end = at;
  for (; end < source.size() && !source.is(end, ";") && !source.is(end, "=");
       end = source.next(end)) {
    if (source.is(end, "(") || source.is(end, "{")) return false;  // a function
  }
  return !has_word(source, source.statement(at), end, {"constant", "threadgroup"});
}

bool is_assembly(const Source& source, std::size_t at) {
  const bool is_word = source.is(at, "asm") || source.is(at, "__asm__") || source.is(at, "__asm");
  return is_word && source.scope(at) == Source::Scope::function;
}

/// True for the `=` of `const float pi = 3.14f;` outside of functions and classes.
bool initializes_global(const Source& source, std::size_t at) {
  if (!source.is(at, "=") || source.in_parentheses(at)) return false;
  if (source.scope(at) != Source::Scope::file) return false;
  const std::size_t first = source.statement(at);
  if (!has_word(source, first, at, {"const", "constexpr"})) return false;
  for (std::size_t each = first; each < at; each = source.next(each)) {
    if (source.is_attribute(each)) return false;
    if (source.is(each, "(") || source.is(each, "operator") || source.is(each, "using")) {
      return false;
    }
  }
  return !has_word(source, first, at, {"constant", "enum", "template", "typedef"});
}

std::string_view refusal_at(const Source& source, std::size_t at) {
  if (initializes_global(source, at)) {
    return "a variable outside of functions is in constant memory: declare it constant";
  }
  if (!source.is_word(at)) return {};
  if (declares_main(source, at)) return "a function of Metal cannot be called main: rename it";
  if (declares_static_local(source, at)) {
    return "Metal has no static variables in functions: use a buffer, or constant for a constant";
  }
  if (declares_static_member(source, at)) {
    return "a static member is in constant memory: declare it static constant";
  }
  if (is_assembly(source, at)) {
    return "Metal has no assembly: use functions of its library";
  }
  const auto found = std::ranges::find(refused_words, source[at].text, &Refusal::word);
  if (found == refused_words.end() || deletes_function(source, at) || names_operator(source, at)) {
    return {};
  }
  return found->message;
}

}  // namespace

std::string error_at(const Source& source, std::size_t at, std::string_view message) {
  return fmt::format("{}:{}: error: {}\n", source.file(at), source[at].line, message);
}

std::string forbidden_words(const Source& source) {
  std::string errors;
  for (std::size_t at = 0; at < source.size(); ++at) {
    const std::string_view message = refusal_at(source, at);
    if (!message.empty()) errors += error_at(source, at, message);
  }
  return errors;
}

}  // namespace rung::emu::metal
