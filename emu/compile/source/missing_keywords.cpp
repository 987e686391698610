#include "emu/compile/source/missing_keywords.hpp"

#include <cctype>
#include <regex>
#include <set>
#include <sstream>

#include "emu/compile/source/source_text.hpp"

namespace rung::emu {

std::vector<MissingKeyword> missing_keywords(const std::string& errors) {
  static const std::regex colour("\x1b\\[[0-9;]*[mK]");
  static const std::regex error(
      R"(^(.+):(\d+):(\d+): (?:fatal )?error: (?:missing|use) '(typename|template)'.*)");
  std::set<MissingKeyword> found;
  std::istringstream lines(std::regex_replace(errors, colour, ""));
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (!std::regex_match(line, match, error)) continue;
    found.insert({match[1], std::stoi(match[2]), std::stoi(match[3]),
                  match[4] == "typename" ? "typename " : "template "});
  }
  return {found.begin(), found.end()};
}

std::string with_keywords(const std::string& text, const std::vector<MissingKeyword>& missing) {
  Edits edits;
  for (const MissingKeyword& each : missing) {
    std::size_t at = 0;
    for (int line = 1; line < each.line && at != text.npos; ++line) {
      at = text.find('\n', at);
      if (at != text.npos) ++at;
    }
    if (at == text.npos) continue;
    at += static_cast<std::size_t>(each.column - 1);
    const auto is_letter = [&](std::size_t place) {
      return place < text.size() &&
             (std::isalnum(static_cast<unsigned char>(text[place])) != 0 || text[place] == '_');
    };
    if (!is_letter(at) || (at > 0 && is_letter(at - 1))) continue;
    edits.push_back({at, 0, std::string(each.keyword)});
  }
  return edited(text, edits);
}

}  // namespace rung::emu
