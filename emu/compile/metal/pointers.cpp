// Pointers and references name the address space that they point to (Metal Shading Language
// Specification 4, chapter 4). clang accepts them without one.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>

#include "emu/compile/metal/passes.hpp"

namespace rung::emu::metal {
namespace {

bool is_one_of(const Source& source, std::size_t at,
               std::initializer_list<std::string_view> words) {
  return at < source.size() &&
         std::ranges::find(words, std::string_view(source[at].text)) != words.end();
}

bool is_space(const Source& source, std::size_t at) {
  return is_one_of(source, at,
                   {"device", "threadgroup", "constant", "thread", "threadgroup_imageblock",
                    "ray_data", "object_data"});
}

/// The names of types that have no address space of their own. Template parameters, and types that
/// depend on them, may have one.
class PlainTypes {
 public:
  explicit PlainTypes(const Source& source) : source_(source) {
    add_library();
    for (std::size_t at = 0; at < source.size(); ++at) add_declared(at);
    for (std::size_t at = 0; at < source.size(); ++at) add_alias(at);
    for (std::size_t at = 0; at < source.size(); ++at) remove_parameter(at);
  }

  bool contains(std::size_t at) const {
    return source_.is_word(at) && names_.contains(source_[at].text);
  }
  const std::set<std::string>& names() const { return names_; }

 private:
  void add_library() {
    for (const char* const scalar : {"bool", "char", "uchar", "short", "ushort", "int", "uint",
                                     "long", "ulong", "half", "bfloat", "float"}) {
      names_.insert(scalar);
      for (const char* const size : {"2", "3", "4"}) {
        for (const char* const prefix : {"", "packed_", "simd_", "vector_"}) {
          names_.insert(fmt::format("{}{}{}", prefix, scalar, size));
        }
      }
    }
    for (const char* const scalar : {"half", "float"}) {
      for (const char* const columns : {"2", "3", "4"}) {
        for (const char* const rows : {"2", "3", "4"}) {
          names_.insert(fmt::format("{}{}x{}", scalar, columns, rows));
        }
      }
    }
    for (const char* const bits : {"8", "16", "32", "64"}) {
      names_.insert(fmt::format("int{}_t", bits));
      names_.insert(fmt::format("uint{}_t", bits));
    }
    names_.insert({"void",
                   "unsigned",
                   "size_t",
                   "ptrdiff_t",
                   "vec",
                   "packed_vec",
                   "matrix",
                   "atomic",
                   "atomic_int",
                   "atomic_uint",
                   "atomic_bool",
                   "atomic_float",
                   "atomic_ulong",
                   "simdgroup_matrix",
                   "simdgroup_float8x8",
                   "simdgroup_half8x8",
                   "simdgroup_bfloat8x8",
                   "sampler",
                   "texture1d",
                   "texture1d_array",
                   "texture2d",
                   "texture2d_array",
                   "texture3d",
                   "texturecube",
                   "depth2d"});
  }

  /// struct S {, enum class E :, and typedef struct { … } S;
  void add_declared(std::size_t at) {
    if (is_one_of(source_, at, {"struct", "class", "union", "enum"})) {
      std::size_t name = source_.after_attributes(source_.next(at));
      if (is_one_of(source_, name, {"class", "struct"})) name = source_.next(name);
      const std::size_t after = source_.next(name);
      if (source_.is_word(name) && is_one_of(source_, after, {"{", ":", ";", "<", "final"})) {
        names_.insert(source_[name].text);
      }
    } else if (source_.is(at, "}") && source_.partner(at) < source_.size()) {
      const std::size_t name = source_.next(at);
      const bool is_type = source_.is(source_.statement(source_.partner(at)), "typedef");
      if (is_type && source_.is_word(name) && source_.is(source_.next(name), ";")) {
        names_.insert(source_[name].text);
      }
    }
  }

  /// using A = float4; and typedef float4 A;
  void add_alias(std::size_t at) {
    if (!is_one_of(source_, at, {"using", "typedef"})) return;
    std::size_t end = at;
    while (end < source_.size() && !source_.is(end, ";")) end = source_.next(end);
    const bool is_using = source_.is(at, "using");
    const std::size_t name = is_using ? source_.next(at) : source_.previous(end);
    const std::size_t first = is_using ? source_.next(source_.next(name)) : source_.next(at);
    if (!contains(first) || !source_.is_word(name)) return;
    for (std::size_t each = first; each < end; each = source_.next(each)) {
      if (is_space(source_, each) || is_one_of(source_, each, {"*", "&", "(", "{", "::"})) return;
    }
    names_.insert(source_[name].text);
  }

  /// template <typename T, class U>
  void remove_parameter(std::size_t at) {
    if (!is_one_of(source_, at, {"typename", "class"})) return;
    const std::size_t name = source_.next(at);
    if (is_one_of(source_, source_.next(name), {",", ">", "="}) && source_.is_word(name)) {
      names_.erase(source_[name].text);
    }
  }

  const Source& source_;
  std::set<std::string> names_;
};

class PointerCheck {
 public:
  explicit PointerCheck(const Source& source) : source_(source), plain_(source) {}

  std::string run() {
    for (std::size_t at = 0; at < source_.size(); ++at) {
      if (plain_.contains(at)) check(at);
    }
    return std::move(errors_);
  }

 private:
  void check(std::size_t type) {
    std::size_t begin = type;
    bool has_space = false;
    if (!read_before(begin, has_space)) return;
    std::size_t at = source_.next(type);
    if (source_.is(at, "<")) at = source_.next(source_.after_angles(at));
    at = read_qualifiers(at, has_space);
    if (source_.is(at, "(")) return check_array(type, at, has_space);
    if (has_space) return;
    // A pointer or reference to a pointer needs no space of its own: const device float*& x.
    const std::size_t mark = at;
    std::size_t last = at;
    for (; is_one_of(source_, at, {"*", "&"}); at = read_qualifiers(source_.next(at), has_space)) {
      last = at;
    }
    if (last == mark && !is_one_of(source_, mark, {"*", "&"})) return;
    if (is_declaration(begin, at)) report(type, last, mark);
  }

  /// Moves `begin` to the first word of the type; false if the word at `begin` is no type.
  bool read_before(std::size_t& begin, bool& has_space) const {
    constexpr auto words = std::to_array<std::string_view>(
        {"const", "volatile", "unsigned", "signed", "static", "inline", "constexpr", "typename",
         "extern", "struct", "long", "short", "METAL_FUNC"});
    for (std::size_t before = source_.previous(begin); before < source_.size();
         before = source_.previous(begin)) {
      if (is_one_of(source_, before, {".", "->"})) return false;
      if (source_.is(before, "::")) {
        if (!source_.is_word(source_.previous(before))) return false;
        begin = source_.previous(before);
        continue;
      }
      const bool is_qualifier =
          std::ranges::find(words, std::string_view(source_[before].text)) != words.end();
      has_space = has_space || is_space(source_, before);
      if (!is_qualifier && !is_space(source_, before)) return true;
      begin = before;
    }
    return true;
  }

  std::size_t read_qualifiers(std::size_t at, bool& has_space) const {
    while (is_space(source_, at) ||
           is_one_of(source_, at, {"const", "volatile", "restrict", "__restrict"})) {
      has_space = has_space || is_space(source_, at);
      at = source_.next(at);
    }
    return at;
  }

  /// float (&a)[4]
  void check_array(std::size_t type, std::size_t open, bool has_space) {
    const std::size_t mark = source_.next(open);
    if (has_space || !is_one_of(source_, mark, {"*", "&"})) return;
    if (source_.is_word(source_.next(mark)) &&
        source_.is(source_.next(source_.partner(open)), "[")) {
      report(type, mark, mark);
    }
  }

  /// True if what surrounds the type is a declaration or a cast, and no expression or template
  /// argument.
  bool is_declaration(std::size_t begin, std::size_t end) const {
    const std::size_t before = source_.previous(begin);
    if (source_.is(end, ">")) {
      return source_.is(before, "<") &&
             is_one_of(source_, source_.previous(before), {"static_cast", "reinterpret_cast"});
    }
    const bool begins = before >= source_.size() || source_.is_word(before) ||
                        is_one_of(source_, before, {"(", ",", ";", "{", "}", ":", ")", "]", ">"});
    if (!begins || is_one_of(source_, before, {"operator", "sizeof", "return"})) return false;
    if (source_.is(end, ")")) {
      const std::size_t open = source_.partner(end);
      return open < source_.size() && source_.scope(begin) == Source::Scope::function &&
             source_.is(before, "(") && before == open &&
             !is_one_of(source_, source_.previous(open), {"sizeof", "alignof", "decltype"});
    }
    return source_.is(end, "operator") ||
           (source_.is_word(end) &&
            is_one_of(source_, source_.next(end), {";", ",", ")", "=", "[", "(", "{", ":", "::"}));
  }

  void report(std::size_t type, std::size_t last, std::size_t wrong) {
    const bool is_pointer = source_.is(wrong, "*");
    errors_ += error_at(
        source_, type,
        fmt::format("'{}' names no address space: write device, threadgroup, constant or thread "
                    "before the {}",
                    source_.text(type, last + 1), is_pointer ? "*" : "&"));
  }

  const Source& source_;
  const PlainTypes plain_;
  std::string errors_;
};

}  // namespace

std::set<std::string> plain_types(const Source& source) { return PlainTypes(source).names(); }

std::string pointers_without_space(const Source& source) { return PointerCheck(source).run(); }

}  // namespace rung::emu::metal
