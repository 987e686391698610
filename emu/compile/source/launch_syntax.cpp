// Passes over the brackets of launches.

#include "emu/compile/source/characters.hpp"
#include "emu/compile/source/passes.hpp"

namespace rung::emu {
namespace {

/// True if only blanks separate the tokens.
bool are_neighbours(const SourceText& source, std::size_t first, std::size_t second) {
  const Tokens& tokens = source.tokens();
  return second < tokens.size() &&
         after_spaces(source.text(), tokens[first].end()) == tokens[second].at;
}

/// The last token of `<< <`, `< <<`, `>> >(` or `> >>(`, which begins at `first`; `first` if none does.
std::size_t last_of_split_brackets(const SourceText& source, std::size_t first) {
  const Tokens& tokens = source.tokens();
  const std::string_view bracket = tokens[first].text;
  const auto has_gap = [&](std::size_t at) { return tokens[at].end() < tokens[at + 1].at; };
  const std::size_t last = first + 2;
  for (std::size_t at = first; at < last; ++at) {
    if (!are_neighbours(source, at, at + 1) || tokens[at + 1].text != bracket) return first;
  }
  if (has_gap(first) == has_gap(first + 1)) return first;
  if (bracket == "<") return last;
  // Three brackets that close lists of template arguments may be split after the first.
  const bool is_launch = !has_gap(first);
  return is_launch && are_neighbours(source, last, last + 1) && tokens[last + 1].text == "("
             ? last
             : first;
}

}  // namespace

Edits join_launch_brackets(const SourceText& source) {
  const Tokens& tokens = source.tokens();
  Edits edits;
  for (std::size_t first = 0; first < tokens.size(); ++first) {
    const std::string_view bracket = tokens[first].text;
    if (bracket != "<" && bracket != ">") continue;
    const std::size_t last = last_of_split_brackets(source, first);
    if (last == first) {
      // The rest of a shift is no launch.
      while (first + 1 < tokens.size() && tokens[first + 1].text == bracket &&
             tokens[first + 1].at == tokens[first].end()) {
        ++first;
      }
      continue;
    }
    const std::size_t begin = tokens[first].at, end = tokens[last].end();
    edits.push_back({begin, end - begin, std::string(3, bracket[0]) + source.lines(begin, end)});
    first = last;
  }
  return edits;
}

Edits name_dimensions(const SourceText& source) {
  const Tokens& tokens = source.tokens();
  Edits edits;
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    if (tokens[at].text != "<<<") continue;
    int depth = 0, argument = 0;
    bool begins_argument = true;
    for (++at; at < tokens.size() && tokens[at].text != ";"; ++at) {
      const std::string_view text = tokens[at].text;
      if (depth == 0 && text == ">>>") break;
      if (depth == 0 && text == ",") {
        ++argument;
        begins_argument = true;
        continue;
      }
      if (text == "{" && begins_argument && argument < 2)
        edits.push_back({tokens[at].at, 0, "dim3"});
      depth += text == "(" || text == "{" || text == "["   ? 1
               : text == ")" || text == "}" || text == "]" ? -1
                                                           : 0;
      begins_argument = false;
    }
  }
  return edits;
}

}  // namespace rung::emu
