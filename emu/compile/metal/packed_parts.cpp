// Parts of packed vectors, such as p.zyx. Vectors of clang have them; packed vectors are structures, to which
// the library adds the parts that a file names. All 336 of four components would double the time of
// each compilation.

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "emu/compile/metal/passes.hpp"

namespace rung::emu::metal {
namespace {

/// The components of a part, {2, 1, 0} for "zyx"; empty if the word is no part.
std::vector<std::size_t> components(std::string_view word, std::size_t fewest = 2) {
  std::vector<std::size_t> found;
  if (word.size() < fewest || word.size() > 4) return found;
  for (const std::string_view names : {"xyzw", "rgba"}) {
    if (word.find_first_not_of(names) != word.npos) continue;
    for (const char each : word) found.push_back(names.find(each));
  }
  return found;
}

bool is_access(const Source& source, std::size_t at) {
  return source.is(at, ".") || source.is(at, "->");
}

/// "zx" for the part "yx" of the part "xz". Empty if one of them is no part.
std::string joined(std::string_view outer, std::string_view inner) {
  const std::vector<std::size_t> from = components(outer), of = components(inner, 1);
  if (from.empty() || of.empty() || std::ranges::max(of) >= from.size()) return {};
  std::string both;
  for (const std::size_t each : of) both += std::string_view("xyzw")[from[each]];
  return both;
}

}  // namespace

void join_parts(Source& source) {
  std::set<std::string> members;  // of structures, such as `float2 xy;`, whose own parts these are
  for (std::size_t at = 0; at < source.size(); ++at) {
    if (source.is_word(at) && !is_access(source, source.previous(at))) {
      members.insert(source[at].text);
    }
  }
  for (std::size_t at = 0; at < source.size(); ++at) {
    if (!is_access(source, at)) continue;
    const std::size_t outer = source.next(at), dot = source.next(outer), inner = source.next(dot);
    if (!source.is(dot, ".") || !source.is_word(outer) || !source.is_word(inner)) continue;
    if (members.contains(source[outer].text)) continue;
    const std::string both = joined(source[outer].text, source[inner].text);
    if (both.empty()) continue;
    source[inner].text = both;
    source.erase(outer, inner);
    --at;  // this part may have parts, too
  }
}

std::vector<std::string> packed_parts(const Source& source) {
  std::set<std::string> words;
  for (std::size_t at = 0; at < source.size(); ++at) {
    if (!source.is(at, ".") && !source.is(at, "->")) continue;
    const std::size_t word = source.next(at);
    if (source.is_word(word)) words.insert(source[word].text);
  }
  std::vector<std::string> macros;
  for (const std::size_t size : {2, 3, 4}) {
    std::string parts;
    for (const std::string& word : words) {
      std::vector<std::size_t> from = components(word);
      if (from.empty() || std::ranges::max(from) >= size) continue;
      const std::set<std::size_t> different(from.begin(), from.end());
      parts += fmt::format("RUNG_METAL_{}PART({}, {}, {})",
                           different.size() < from.size() ? "CONST_" : "", word, from.size(),
                           fmt::join(from, ", "));
    }
    macros.push_back(fmt::format("-DRUNG_METAL_PARTS_OF_{}={}", size, parts));
  }
  return macros;
}

}  // namespace rung::emu::metal
