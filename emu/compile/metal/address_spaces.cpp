// Rewrites address spaces. As qualifiers of a type they are macros of the library
// (emu/include/metal); this pass handles the declarations in which they mean something else.

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "emu/compile/metal/passes.hpp"

namespace rung::emu::metal {
namespace {

constexpr auto spaces =
    std::to_array<std::string_view>({"device", "threadgroup", "threadgroup_imageblock", "constant",
                                     "thread", "ray_data", "object_data"});

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

/// True if a class has a constructor or initial values of its members.
bool has_constructors(const Source& source) {
  std::string name;
  std::size_t body = source.size();
  for (std::size_t at = 0; at < source.size(); at = source.next(at)) {
    const bool is_class =
        source.is(at, "struct") || source.is(at, "class") || source.is(at, "union");
    if (is_class && source.is_word(source.next(at))) name = source[source.next(at)].text;
    if (source.is(at, "{") && source.scope(source.next(at)) == Source::Scope::record) body = at;
    if (source.around(at) != body || body >= source.size()) continue;
    const std::size_t after = source.next(at);
    if (source.is(at, name) && source.is(after, "(")) return true;
    const bool is_constant = source.is(source.statement(at), "static") ||
                             source.is(source.statement(at), "using") ||
                             source.is(source.statement(at), "constexpr");
    if (source.is(at, "=") && !is_constant && !source.is(after, "default") &&
        !source.is(after, "delete") && !source.is(source.previous(at), "operator")) {
      return true;
    }
  }
  return false;
}

/// True for the last word of a type that has no constructor.
bool is_plain_type(const Source& source, std::size_t at) {
  if (!source.is_word(at)) return source.is(at, ">") && !source.is_word(source.before_angles(at));
  std::string_view name = source[at].text;
  if (name.starts_with("atomic")) return true;
  if (name.ends_with('2') || name.ends_with('3') || name.ends_with('4')) name.remove_suffix(1);
  constexpr auto scalars = std::to_array<std::string_view>(
      {"char",   "uchar",    "short",   "ushort",   "int",     "uint",     "long",   "ulong",
       "size_t", "half",     "bfloat",  "float",    "bool",    "unsigned", "signed", "uint8_t",
       "int8_t", "uint16_t", "int16_t", "uint32_t", "int32_t", "uint64_t", "int64_t"});
  return std::ranges::find(scalars, name) != scalars.end();
}

/// `threadgroup S a[4];` of a class that may have a constructor, which does not run there, becomes a
/// reference to bytes. The function around them has the variable's name in reports.
bool rewrite_constructed(Source& source, std::size_t at) {
  std::size_t name = source.size(), last = source.size(), end = source.next(at);
  for (; end < source.size() && !source.is(end, ";"); end = source.next(end)) {
    if (source.is(end, ",")) return false;
    last = end;
    if (source.is(end, "[")) {
      last = end = source.partner(end);
    } else if (source.is(end, "<")) {
      last = end = source.after_angles(end);
    } else if (source.is_word(end)) {
      name = end;
    }
  }
  if (end >= source.size() || name >= source.size()) return false;
  if (is_plain_type(source, source.previous(name))) return false;
  const std::string variable = source[name].text;
  const std::string type = "::metal::rung_detail::same_t<" + source.text(source.next(at), name) +
                           source.text(name + 1, last + 1) + ">";
  source.erase(source.statement(at), last + 1);
  source[at].text = "threadgroup " + type + "& " + variable +
                    " = *[] { static __attribute__((loader_uninitialized)) threadgroup "
                    "::metal::rung_detail::Bytes<" +
                    type + "> " + variable + "; return (threadgroup " + type + "*)&" + variable +
                    "; }()";
  return true;
}

void rewrite_storage(Source& source, std::size_t at, bool has_constructors) {
  const bool is_threadgroup = source.is(at, "threadgroup");
  if (!is_threadgroup && !source.is(at, "constant")) return;
  if (source.scope(at) != Source::Scope::function || source.in_parentheses(at)) return;
  if (!declares_storage(source, at)) return;
  if (is_threadgroup) remove_initializers(source, source.next(at));
  if (is_threadgroup && has_constructors && rewrite_constructed(source, at)) return;
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
  int words = 0;
  for (std::size_t each = source.next(at); each < end; each = source.next(each)) {
    if (source.is_attribute(each)) {
      each = source.partner(each);
    } else if (source.is(each, "<")) {
      each = source.after_angles(each);
    } else if (source.is(each, "[")) {
      const std::size_t close = source.partner(each);
      const std::size_t after = source.after_attributes(source.next(close));
      if (name >= source.size()) return;
      const bool ends = after == end || source.is(after, ",");
      if (!ends && !source.is(after, "[")) return;
      source.erase(each, close + 1);
      const std::string declared = words > 1 ? source[name].text : "";
      const std::string type = words > 1 ? "" : source[name].text;
      source[name].text = type + (ends ? "*" + declared : "(*" + declared + ")");
      return;
    } else if (source.is_word(each)) {
      const bool is_qualifier = source.is(each, "const") || source.is(each, "volatile");
      if (!is_qualifier) {
        name = each;
        ++words;
      }
    } else if (source.is(each, "::")) {
      --words;
    } else {
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
  const std::size_t first = source.statement(source.partner(at));
  if (source.is(first, "using") || source.is(first, "typedef") || source.is(first, "friend") ||
      source.is(first, "static_assert")) {
    return false;
  }
  std::size_t after = source.next(at);
  if (source.is(after, "const")) after = source.next(after);
  return source.is(after, "{") || source.is(after, ";") || source.is(after, ":") ||
         source.is(after, "=");
}

/// A declaration of a method, in tokens.
struct Method {
  std::size_t first, parameters, end, body;  // end: of the parameters
  bool is_qualified, is_const;
};

/// The declaration without the address spaces of the object and of the result.
std::string method_key(const Source& source, const Method& method) {
  std::string key = method.is_const ? "const " : "";
  for (std::size_t each = method.first; each < method.end; each = source.next(each)) {
    const bool is_ignored = source.is(each, "inline") || source.is(each, "constexpr") ||
                            (each < method.parameters && is_space(source, each));
    if (!is_ignored) key += source[each].text + ' ';
  }
  return key;
}

/// Keeps one of the methods that differ in address spaces only. A result in the space of the object
/// becomes one in any space.
void merge_methods(Source& source, const std::vector<Method>& methods) {
  const bool is_any =
      std::ranges::any_of(methods, [](const Method& each) { return each.is_qualified; });
  if (methods.size() < 2 || !is_any) return;
  for (std::size_t at = methods[0].first; at < methods[0].parameters; at = source.next(at)) {
    if (is_space(source, at)) source[at].text = source.is(at, "constant") ? "const" : "";
  }
  for (std::size_t i = 1; i < methods.size(); ++i) {
    source.erase(methods[i].first, end_of_method(source, methods[i].body));
  }
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
  std::map<std::pair<std::size_t, std::string>, std::vector<Method>> declared;  // by class and key
  for (std::size_t at = 0; at < source.size(); ++at) {
    const bool is_qualified = is_space(source, at) && qualifies_method(source, at);
    if (!is_qualified && !ends_plain_method(source, at)) continue;
    Method method{};
    method.end = is_qualified ? at : source.next(at);
    while (!source.is(source.previous(method.end), ")")) method.end = source.previous(method.end);
    method.parameters = source.partner(source.previous(method.end));
    method.first = source.statement(method.parameters);
    method.body = source.next(at);
    method.is_qualified = is_qualified;
    method.is_const = source.is(method.end, "const") || source.is(method.body, "const");
    if (is_qualified) {
      const bool becomes_const = source.is(at, "constant") && !method.is_const &&
                                 !is_constructor(source, method.first, method.end);
      method.is_const = method.is_const || becomes_const;
      source[at].text = becomes_const ? "const" : "";
    }
    declared[{source.around(at), method_key(source, method)}].push_back(method);
  }
  for (const auto& [key, methods] : declared) merge_methods(source, methods);
}

/// Removes `coherent(device)`, which has no effect on the virtual GPU.
void remove_coherent(Source& source, std::size_t at) {
  const std::size_t open = source.next(at);
  if (!source.is(at, "coherent") || !source.is(open, "(")) return;
  source.erase(at, source.partner(open) + 1);
}

}  // namespace

void rewrite_address_spaces(Source& source) {
  const bool may_construct = has_constructors(source);
  rewrite_methods(source);
  for (std::size_t at = 0; at < source.size(); ++at) {
    remove_coherent(source, at);
    if (!is_space(source, at)) continue;
    rewrite_array_parameter(source, at);
    rewrite_storage(source, at, may_construct);
  }
}

}  // namespace rung::emu::metal
