// Rewrites address spaces. As qualifiers of a type they are macros of the library
// (emu/include/metal); this pass handles the declarations in which they mean something else.

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "emu/compile/metal/passes.hpp"

namespace rung::emu::metal {
namespace {

constexpr auto spaces = std::to_array<std::string_view>(
    {"device", "threadgroup", "constant", "thread", "ray_data", "object_data"});

bool is_space(const Source& source, std::size_t at) {
  return source.is_word(at) &&
         std::ranges::find(spaces, std::string_view(source[at].text)) != spaces.end();
}

/// True if the qualifier at `at` begins the declaration of a variable: a type, a name, and no
/// pointer or reference in between.
bool declares_storage(const Source& source, std::size_t at) {
  constexpr auto not_names = std::to_array<std::string_view>(
      {"const", "volatile", "unsigned", "signed", "typename", "struct", "constexpr", "static"});
  int names = 0;
  for (at = source.next(at); at < source.size(); at = source.next(at)) {
    if (source.is(at, "alignas")) {
      at = source.partner(source.next(at));
    } else if (source.is_attribute(at)) {
      at = source.partner(at);
    } else if (source.is(at, "::")) {
      --names;
    } else if (source.is(at, "<")) {
      at = source.after_angles(at);
    } else if (source.is_word(at)) {
      if (std::ranges::find(not_names, std::string_view(source[at].text)) == not_names.end()) {
        ++names;
      }
    } else {
      break;
    }
  }
  return names >= 2 && (source.is(at, "[") || source.is(at, ";") || source.is(at, "=") ||
                        source.is(at, ",") || source.is(at, "{"));
}

/// Removes the declaration's initializers: threadgroup memory has no initial contents.
void remove_initializers(Source& source, std::size_t at) {
  for (; at < source.size() && !source.is(at, ";"); at = source.next(at)) {
    if (source.is(at, "(") || source.is(at, "[")) {
      at = source.partner(at);
    } else if (source.is(at, "<")) {
      const std::size_t close = source.after_angles(at);
      if (close < source.size()) at = close;
    } else if (source.is(at, "=") || source.is(at, "{")) {
      std::size_t end = at;
      while (end < source.size() && !source.is(end, ";") && !source.is(end, ",")) {
        const bool opens = source.is(end, "{") || source.is(end, "(") || source.is(end, "[");
        end = source.next(opens ? source.partner(end) : end);
      }
      source.erase(at, end);
      at = source.previous(end);
    }
  }
}

void rewrite_storage(Source& source, std::size_t at) {
  const bool is_threadgroup = source.is(at, "threadgroup");
  if (!is_threadgroup && !source.is(at, "constant")) return;
  if (source.scope(at) != Source::Scope::function || source.in_parentheses(at)) return;
  if (!declares_storage(source, at)) return;
  if (is_threadgroup) remove_initializers(source, source.next(at));
  bool is_static = false;
  for (std::size_t each = source.statement(at); each < at; each = source.next(each)) {
    is_static = is_static || source.is(each, "static");
  }
  source[at].text.insert(0, is_threadgroup ? "__attribute__((loader_uninitialized)) " : "");
  if (!is_static) source[source.statement(at)].text.insert(0, "static ");
}

/// Rewrites a parameter `device float a[4]` as a pointer: clang rejects the qualifier of the array.
void rewrite_array_parameter(Source& source, std::size_t at) {
  if (!source.in_parentheses(at) || !source.is(source.around(at), "(")) return;
  const std::size_t end = source.partner(source.around(at));
  std::size_t name = source.size();
  for (std::size_t each = source.next(at); each < end; each = source.next(each)) {
    if (source.is_attribute(each)) {
      each = source.partner(each);
    } else if (source.is(each, "<")) {
      each = source.after_angles(each);
    } else if (source.is(each, "[")) {
      const std::size_t close = source.partner(each);
      const std::size_t after = source.after_attributes(source.next(close));
      if (name < source.size() && (after == end || source.is(after, ","))) {
        source.erase(each, close + 1);
        source[name].text.insert(0, "*");
      }
      return;
    } else if (source.is_word(each)) {
      name = each;
    } else if (!source.is(each, "::")) {
      return;
    }
  }
}

/// True if the address space at `at` qualifies a method, as in `float get() const device {`.
bool qualifies_method(const Source& source, std::size_t at) {
  if (source.scope(at) != Source::Scope::record || source.in_parentheses(at)) return false;
  const std::size_t before = source.previous(at), after = source.next(at);
  const bool ends_declarator = source.is(before, ")") || source.is(before, "const") ||
                               source.is(before, "noexcept") || source.is(before, "volatile");
  if (!ends_declarator) return false;
  if (!source.is(before, ")") && !source.is(source.previous(before), ")")) return false;
  return source.is(after, "{") || source.is(after, ";") || source.is(after, ":") ||
         source.is(after, "const") || source.is(after, "=") || source.is(after, "noexcept");
}

/// The token after the declaration of a method.
std::size_t end_of_method(const Source& source, std::size_t at) {
  for (; at < source.size(); at = source.next(at)) {
    if (source.is(at, "(")) at = source.partner(at);
    if (source.is(at, ";")) return at + 1;
    if (source.is(at, "{")) {
      const std::size_t close = source.partner(at);
      // An initializer of a member, as in S() : a{1} {}.
      if (source.is(source.next(close), ",") || source.is(source.next(close), "{")) {
        at = close;
        continue;
      }
      return close + 1;
    }
  }
  return source.size();
}

/// True for the `)` that ends the parameters of a method without an address space.
bool ends_plain_method(const Source& source, std::size_t at) {
  if (!source.is(at, ")") || source.partner(at) >= source.size()) return false;
  if (source.scope(at) != Source::Scope::record || source.in_parentheses(at)) return false;
  const std::size_t first = source.statement(at);
  if (source.is(first, "using") || source.is(first, "typedef") || source.is(first, "friend") ||
      source.is(first, "static_assert")) {
    return false;
  }
  std::size_t after = source.next(at);
  if (source.is(after, "const")) after = source.next(after);
  return source.is(after, "{") || source.is(after, ";") || source.is(after, ":");
}

/// The text of a method's declaration without `inline` and `constexpr`. Methods with the same key
/// differ only in their address space.
std::string method_key(const Source& source, std::size_t first, std::size_t end, bool is_const) {
  std::string key = is_const ? "const " : "";
  for (std::size_t each = first; each < end; each = source.next(each)) {
    const bool is_ignored = source.is(each, "inline") || source.is(each, "constexpr");
    if (!is_ignored) key += source[each].text + ' ';
  }
  return key;
}

/// True if the method's name, before its parameters, begins its declaration.
bool is_constructor(const Source& source, std::size_t first, std::size_t end) {
  const std::size_t name = source.previous(source.partner(source.previous(end)));
  const std::size_t before = source.previous(name);
  return name == first || source.is(before, "constexpr") || source.is(before, "inline");
}

/// Removes the address spaces of methods, so that they can be called through a pointer of any
/// address space. Declares overloads that differ in nothing else only once.
void rewrite_methods(Source& source) {
  std::map<std::size_t, std::set<std::string>> declared;  // by class
  for (std::size_t at = 0; at < source.size(); ++at) {
    const bool is_qualified = is_space(source, at) && qualifies_method(source, at);
    if (!is_qualified && !ends_plain_method(source, at)) continue;
    const std::size_t first = source.statement(at);
    std::size_t end = is_qualified ? at : source.next(at);  // end of the parameters
    while (!source.is(source.previous(end), ")")) end = source.previous(end);
    std::size_t after = source.next(at);
    bool is_const = source.is(end, "const") || source.is(after, "const");
    if (is_qualified) {
      const bool becomes_const =
          source.is(at, "constant") && !is_const && !is_constructor(source, first, end);
      is_const = is_const || becomes_const;
      source[at].text = becomes_const ? "const" : "";
    }
    const bool is_new =
        declared[source.around(at)].insert(method_key(source, first, end, is_const)).second;
    if (!is_new && is_qualified) {
      source.erase(first, end_of_method(source, after));
    }
  }
}

/// Removes `coherent(device)`, which has no effect on the virtual GPU.
void remove_coherent(Source& source, std::size_t at) {
  const std::size_t open = source.next(at);
  if (!source.is(at, "coherent") || !source.is(open, "(")) return;
  source.erase(at, source.partner(open) + 1);
}

}  // namespace

void rewrite_address_spaces(Source& source) {
  rewrite_methods(source);
  for (std::size_t at = 0; at < source.size(); ++at) {
    remove_coherent(source, at);
    if (!is_space(source, at)) continue;
    rewrite_array_parameter(source, at);
    rewrite_storage(source, at);
  }
}

}  // namespace rung::emu::metal
