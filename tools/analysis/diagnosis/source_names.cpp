#include "tools/analysis/diagnosis/source_names.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>

namespace rung::analysis::diagnosis {
namespace {

std::string contents(const vgpu::ptx::Module& text, const vgpu::ptx::Instruction& instruction) {
  const auto file = static_cast<std::size_t>(instruction.source.file);
  if (file == 0 || file >= text.files.size()) return {};
  std::ifstream source(text.files[file], std::ios::binary);
  return {std::istreambuf_iterator<char>(source), {}};
}

std::string line_of(std::string_view file, int number) {
  for (int line = 1; line < number && !file.empty(); ++line) {
    const std::size_t end = file.find('\n');
    file.remove_prefix(end == file.npos ? file.size() : end + 1);
  }
  return std::string(file.substr(0, file.find('\n')));
}

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The word that ends before `end`, after blanks.
std::string_view word_before(std::string_view text, std::size_t end) {
  while (end > 0 && text[end - 1] == ' ') --end;
  std::size_t begin = end;
  while (begin > 0 && in_word(text[begin - 1])) --begin;
  return text.substr(begin, end - begin);
}

/// True if the file declares an array of this name in a function: a type, the name, "[", and on that
/// line neither __shared__ nor extern.
bool declares(std::string_view file, std::string_view name) {
  for (std::size_t at = file.find(name); at != file.npos; at = file.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if (end >= file.size() || file[end] != '[' || at < 2 || in_word(file[at - 1])) continue;
    const std::string_view type = word_before(file, at);
    if (type.empty() || std::isdigit(static_cast<unsigned char>(type.front())) != 0) continue;
    if (type == "return" || file[at - 1] != ' ') continue;
    const std::size_t begin = file.rfind('\n', at);
    const std::string_view line = file.substr(begin + 1, at - begin - 1);
    const bool elsewhere = line.find("__shared__") != line.npos ||
                           line.find("extern") != line.npos ||
                           line.find("__constant__") != line.npos;
    if (!elsewhere) return true;
  }
  return false;
}

}  // namespace

std::string source_line(const vgpu::ptx::Module& text, const vgpu::ptx::Instruction& instruction) {
  return line_of(contents(text, instruction), instruction.source.line);
}

std::string array_in_line(std::string_view line, std::string_view file) {
  for (std::size_t at = line.find('['); at != line.npos; at = line.find('[', at + 1)) {
    const std::string_view name = word_before(line, at);
    if (!name.empty() && declares(file, name)) return std::string(name);
  }
  return {};
}

std::string array_of(const vgpu::ptx::Module& text, const vgpu::ptx::Instruction& instruction) {
  const std::string file = contents(text, instruction);
  return array_in_line(line_of(file, instruction.source.line), file);
}

bool accesses_member(std::string_view line) {
  for (std::size_t at = line.find(']'); at != line.npos; at = line.find(']', at + 1)) {
    const std::string_view after = line.substr(at + 1);
    const bool member = after.starts_with('.') && after.size() > 1 && !std::isdigit(after[1]);
    if (member) return true;
  }
  return line.find("->") != line.npos;
}

}  // namespace rung::analysis::diagnosis
