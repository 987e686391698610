#include "emu/accepted_source.hpp"

#include <algorithm>
#include <regex>

#include "emu/device_launches.hpp"

namespace rung::emu {

std::string join_launch_brackets(const std::string& text) {
  static const std::regex split(R"(<<\s+<|<\s+<<|>>\s+>(?=\s*\())");
  std::string joined;
  auto rest = text.cbegin();
  for (std::sregex_iterator it(text.begin(), text.end(), split), end; it != end; ++it) {
    const std::string between = it->str();
    joined.append(rest, text.cbegin() + it->position());
    joined += between.starts_with('<') ? "<<<" : ">>>";
    // Lines keep their numbers.
    joined.append(static_cast<std::size_t>(std::count(between.begin(), between.end(), '\n')), '\n');
    rest = text.cbegin() + it->position() + it->length();
  }
  joined.append(rest, text.cend());
  return joined;
}

std::string escape_special_registers(const std::string& text) {
  static const std::regex name(
      R"(([^%])%(globaltimer|clock|laneid|warpid|smid|nsmid|lanemask|ctaid|nctaid|tid|ntid))");
  std::string escaped;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t stop = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string line = text.substr(at, stop - at);
    const bool is_assembly = line.find("asm") != line.npos;
    escaped += is_assembly ? std::regex_replace(line, name, "$1%%$2") : line;
    at = stop;
  }
  return escaped;
}

std::string accepted_source(const std::string& text) {
  return rewrite_device_launches(escape_special_registers(join_launch_brackets(text)));
}

}  // namespace rung::emu
