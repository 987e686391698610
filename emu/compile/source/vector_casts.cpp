// The pass over casts to pointers to float4 and the like. Where clang sees the array that an address belongs
// to, as in `*(float4*)&tile[4 * i]`, it uses the array's alignment for the access, which LLVM then splits.

#include <algorithm>
#include <array>

#include "emu/compile/source/characters.hpp"
#include "emu/compile/source/passes.hpp"

namespace rung::emu {
namespace {

using Text = std::string_view;

constexpr const char* opaque_address = "(::rung_emu::Address)";

// Structures of the vendor's headers that are aligned to their size.
constexpr std::array vector_names = {
    Text("char2"),         Text("char4"),     Text("uchar2"),     Text("uchar4"),
    Text("short2"),        Text("short4"),    Text("ushort2"),    Text("ushort4"),
    Text("int2"),          Text("int4"),      Text("uint2"),      Text("uint4"),
    Text("float2"),        Text("float4"),    Text("double2"),    Text("half2"),
    Text("__half2"),       Text("longlong2"), Text("ulonglong2"), Text("nv_bfloat162"),
    Text("__nv_bfloat162")};

template <std::size_t COUNT>
bool is_any(Text text, const std::array<Text, COUNT>& words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

/// The token after the bracket that closes the one at `open`, if a pointer to a vector is between them:
/// `(const float4 *)`. Otherwise `open`.
std::size_t after_vector_pointer(const Tokens& tokens, std::size_t open, Text close) {
  bool is_vector = false;
  for (std::size_t at = open + 1; at < tokens.size(); ++at) {
    const Text word = tokens[at].text;
    if (word == "*") return is_vector && are_next(tokens, at + 1, {close}) ? at + 2 : open;
    if (!is_word(word[0])) return open;
    const bool is_known = is_any(word, vector_names);
    if (is_vector == is_known && word != "const" && word != "volatile") return open;
    is_vector = is_vector || is_known;
  }
  return open;
}

/// True if a cast may come before token `at`.
bool is_operand(const Tokens& tokens, std::size_t at) {
  constexpr std::array declared = {Text("const"), Text("volatile"), Text("noexcept"),
                                   Text("override"), Text("final")};
  if (at >= tokens.size()) return false;
  const Text text = tokens[at].text;
  if (!is_word(text[0])) return text == "&" || text == "(" || text == "*";
  return !is_any(text, declared);
}

/// True if a parenthesis at `open` may begin a cast, rather than a list of parameters.
bool may_begin_cast(const Tokens& tokens, std::size_t open) {
  if (open == 0) return false;
  const Text before = tokens[open - 1].text;
  return is_word(before[0]) ? before == "return" : !before.ends_with('>') && before != "]";
}

/// `(float4*)&tile[i]` becomes `(float4*)(::rung_emu::Address)&tile[i]`.
void hide_in_old_cast(const Tokens& tokens, std::size_t at, Edits& edits) {
  const std::size_t end = after_vector_pointer(tokens, at, ")");
  if (end == at || !may_begin_cast(tokens, at) || !is_operand(tokens, end)) return;
  edits.push_back({tokens[end - 1].end(), 0, opaque_address});
}

/// `reinterpret_cast<float4*>(x)` becomes `((float4*)(::rung_emu::Address)(x))`.
void hide_in_reinterpret_cast(const Tokens& tokens, std::size_t at, Edits& edits) {
  const std::size_t bracket = at + 1, open = after_vector_pointer(tokens, bracket, ">");
  if (open == bracket || !are_next(tokens, open, {"("})) return;
  const auto end = after_parentheses(tokens, open);
  if (!end) return;
  const std::size_t begin = tokens[at].at, close = tokens[open - 1].at;
  edits.push_back({begin, tokens[bracket].end() - begin, "(("});
  edits.push_back({close, tokens[open].at - close, std::string(1, ')').append(opaque_address)});
  edits.push_back({tokens[*end - 1].end(), 0, ")"});
}

}  // namespace

Edits hide_arrays_of_vectors(const SourceText& source) {
  const Tokens& tokens = source.tokens();
  Edits edits;
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    if (tokens[at].text == "(") hide_in_old_cast(tokens, at, edits);
    if (are_next(tokens, at, {"reinterpret_cast", "<"}))
      hide_in_reinterpret_cast(tokens, at, edits);
  }
  return edits;
}

}  // namespace rung::emu
