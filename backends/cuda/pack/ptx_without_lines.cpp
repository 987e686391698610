#include "backends/cuda/pack/without_lines.hpp"

namespace rung::cuda {
namespace {

/// A line's first word: ".loc" of "\t.loc\t1 2 3".
std::string_view first_word(std::string_view line) {
  constexpr std::string_view blank = " \t";
  const std::size_t begin = line.find_first_not_of(blank);
  if (begin == line.npos) return {};
  return line.substr(begin, line.find_first_of(blank, begin) - begin);
}

}  // namespace

std::string ptx_without_lines(std::string_view ptx) {
  std::string kept;
  kept.reserve(ptx.size());
  bool in_section = false;
  while (!ptx.empty()) {
    const std::size_t end = ptx.find('\n');
    const std::size_t length = end == ptx.npos ? ptx.size() : end + 1;
    const std::string_view line = ptx.substr(0, length);
    ptx.remove_prefix(length);
    const std::string_view word = first_word(line);
    if (word == ".section") in_section = true;
    if (!in_section && word != ".loc" && word != ".file") kept += line;
    if (in_section && line.find('}') != line.npos) in_section = false;
  }
  return kept;
}

}  // namespace rung::cuda
