#include "emu/vector_casts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "emu/characters.hpp"

namespace rung::emu {
namespace {

using Text = std::string_view;

constexpr Text opaque_address = "(::rung_emu::Address)";

// Structures of the vendor's headers that are aligned to their size.
constexpr std::array vector_names = {
    Text("char2"),         Text("char4"),     Text("uchar2"),     Text("uchar4"),
    Text("short2"),        Text("short4"),    Text("ushort2"),    Text("ushort4"),
    Text("int2"),          Text("int4"),      Text("uint2"),      Text("uint4"),
    Text("float2"),        Text("float4"),    Text("double2"),    Text("half2"),
    Text("__half2"),       Text("longlong2"), Text("ulonglong2"), Text("nv_bfloat162"),
    Text("__nv_bfloat162")};

std::size_t behind_word(Text text, std::size_t at) {
  while (at < text.size() && is_word(text[at])) ++at;
  return at;
}

/// The type between two brackets, of which the first is at `open`: `(const float4 *)`. Returns
/// where the second ends; npos if it is no pointer to a vector.
std::size_t behind_vector_pointer(Text text, std::size_t open, char close) {
  bool is_vector = false;
  for (std::size_t at = behind_spaces(text, open + 1); at < text.size();
       at = behind_spaces(text, at)) {
    if (text[at] == '*') {
      const std::size_t end = behind_spaces(text, at + 1);
      return is_vector && end < text.size() && text[end] == close ? end + 1 : text.npos;
    }
    const std::size_t end = behind_word(text, at);
    const Text word = text.substr(at, end - at);
    const bool known =
        std::find(vector_names.begin(), vector_names.end(), word) != vector_names.end();
    if (end == at || is_vector == known ? word != "const" && word != "volatile" : false) {
      return text.npos;
    }
    is_vector = is_vector || known;
    at = end;
  }
  return text.npos;
}

/// Whether what begins at `at` is what a cast before it casts.
bool is_operand(Text text, std::size_t at) {
  at = behind_spaces(text, at);
  if (at >= text.size()) return false;
  const std::size_t end = behind_word(text, at);
  if (end == at) return text[at] == '&' || text[at] == '(' || text[at] == '*';
  constexpr std::array declared = {Text("const"), Text("volatile"), Text("noexcept"),
                                   Text("override"), Text("final")};
  return std::find(declared.begin(), declared.end(), text.substr(at, end - at)) == declared.end();
}

/// Whether a parenthesis at `open` may begin a cast, and no list of parameters.
bool may_begin_cast(Text text, std::size_t open) {
  std::size_t end = open;
  while (end > 0 && is_space(text[end - 1])) --end;
  if (end == 0) return false;
  std::size_t begin = end;
  while (begin > 0 && is_word(text[begin - 1])) --begin;
  return begin == end ? text[end - 1] != '>' && text[end - 1] != ']'
                      : text.substr(begin, end - begin) == "return";
}

std::string hide_in_old_casts(const std::string& text) {
  std::string hidden;
  std::size_t rest = 0;
  for (std::size_t at = 0; (at = text.find('(', at)) != text.npos; ++at) {
    const std::size_t end = behind_vector_pointer(text, at, ')');
    if (end == text.npos || !may_begin_cast(text, at) || !is_operand(text, end)) continue;
    hidden.append(text, rest, end - rest).append(opaque_address);
    rest = end;
  }
  return hidden.append(text, rest);
}

std::string hide_in_reinterpret_casts(const std::string& text) {
  constexpr Text cast = "reinterpret_cast";
  std::string hidden;
  std::size_t rest = 0;
  for (std::size_t at = 0; (at = text.find(cast, at)) != text.npos;) {
    at += cast.size();
    const std::size_t bracket = behind_spaces(text, at);
    if (bracket >= text.size() || text[bracket] != '<') continue;
    const std::size_t type_end = behind_vector_pointer(text, bracket, '>');
    if (type_end == text.npos) continue;
    const std::size_t open = behind_spaces(text, type_end);
    if (open >= text.size() || text[open] != '(') continue;
    const std::size_t end = behind_parentheses(text, open);
    if (end == text.npos) break;
    // The operand may have such casts, too.
    const std::string operand = hide_in_reinterpret_casts(text.substr(open, end - open));
    hidden.append(text, rest, at - cast.size() - rest);
    hidden += fmt::format("(({}){}{})", text.substr(bracket + 1, type_end - bracket - 2),
                          opaque_address, operand);
    rest = at = end;
  }
  return hidden.append(text, rest);
}

}  // namespace

std::string hide_arrays_of_vectors(const std::string& text) {
  return hide_in_reinterpret_casts(hide_in_old_casts(text));
}

}  // namespace rung::emu
