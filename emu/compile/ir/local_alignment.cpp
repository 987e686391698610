#include "emu/compile/ir/passes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string_view>

#include "emu/compile/ir/llvm_text.hpp"

namespace rung::emu {
namespace {

using Text = std::string_view;

constexpr std::uint64_t vector_bytes = 16;  // the largest that an instruction loads

std::uint64_t number_at(Text text) {
  return std::strtoull(std::string(text.substr(0, 20)).c_str(), nullptr, 10);
}

/// Notes the size in `call void @llvm.lifetime.start.p0(i64 32, ptr %3)`.
void note_size(Text line, std::map<Text, std::uint64_t>& sizes) {
  constexpr Text start = "@llvm.lifetime.start.p0(i64 ", variable = ", ptr ";
  const std::size_t at = line.find(start);
  if (at == line.npos) return;
  const std::size_t name = line.find(variable, at), end = line.find(')', at);
  if (name == line.npos || end == line.npos) return;
  const std::size_t begin = name + variable.size();
  sizes[line.substr(begin, end - begin)] = number_at(line.substr(at + start.size()));
}

/// `  %3 = alloca %struct.A, align 2`, aligned as its size allows.
std::string aligned(Text line, const std::map<Text, std::uint64_t>& sizes) {
  constexpr Text align = ", align ";
  const std::size_t equals = line.find(" = alloca "), at = line.rfind(align);
  const std::size_t name = line.find('%');
  if (equals == line.npos || at == line.npos || name > equals) return std::string(line);
  const auto size = sizes.find(line.substr(name, equals - name));
  if (size == sizes.end() || size->second == 0) return std::string(line);
  const std::uint64_t bytes = std::min(size->second & (~size->second + 1), vector_bytes);
  const std::uint64_t now = number_at(line.substr(at + align.size()));
  return fmt::format("{}{}{}", line.substr(0, at), align, std::max(bytes, now));
}

}  // namespace

std::string align_locals(const std::string& module) {
  const std::vector<Text> lines = split_lines(module);
  std::string text;
  for (std::size_t begin = 0; begin < lines.size();) {  // of a function, or of what is between two
    std::size_t end = begin;
    std::map<Text, std::uint64_t> sizes;
    for (; end < lines.size() && (end == begin || lines[end - 1] != "}"); ++end) {
      note_size(lines[end], sizes);
    }
    for (; begin < end; ++begin) text += aligned(lines[begin], sizes) + '\n';
  }
  return text;
}

}  // namespace rung::emu
