#include "emu/compile/ir/passes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "emu/compile/ir/llvm_text.hpp"

namespace rung::emu {
namespace {

using Text = std::string_view;

// Numbers of metadata nodes that no module reaches.
constexpr std::size_t first_node = 100'000'000;

/// The first name in the text from `at` on, `@.str.2` or `%3`.
Text name_at(Text text, std::size_t at) {
  return text.substr(at, text.find_first_of(" ,()", at) - at);
}

/// The name of the string that marks such a parameter; empty if the module has no mark.
Text mark(const std::vector<Text>& lines) {
  for (const Text line : lines) {
    if (line.starts_with('@') && line.find("c\"rung.grid_constant\\00\"") != line.npos) {
      return name_at(line, 0);
    }
  }
  return {};
}

/// A function that is being defined.
struct Definition {
  Text name;
  std::vector<Text> parameters;
  std::vector<std::size_t> constants;  // of the parameters, from 1 on

  explicit Definition(Text line) {
    const std::size_t begin = line.find('@');
    name = name_at(line, begin);
    for (const Text parameter : split_list(line.substr(begin + name.size()))) {
      parameters.push_back(name_at(parameter, std::min(parameter.rfind('%'), parameter.size())));
    }
  }

  void note(Text parameter) {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (parameters[i] == parameter) constants.push_back(i + 1);
    }
  }
};

/// LLVM's note, as lines of metadata.
std::string note(const Definition& kernel, std::size_t node) {
  return fmt::format(
      "!{0} = !{{ptr {2}, !\"grid_constant\", !{1}}}\n!{1} = !{{i32 {3}}}\n"
      "!nvvm.annotations = !{{!{0}}}\n",
      node, node + 1, kernel.name, fmt::join(kernel.constants, ", i32 "));
}

}  // namespace

std::string note_grid_constants(const std::string& module) {
  constexpr Text annotates = "call void @llvm.var.annotation.", pointer = "(ptr ";
  const std::vector<Text> lines = split_lines(module);
  const Text marked = mark(lines);
  if (marked.empty()) return module;
  std::vector<Definition> kernels;
  std::string text;
  for (const Text line : lines) {
    if (line.starts_with("define ")) kernels.emplace_back(line);
    const std::size_t call = line.find(annotates);
    if (call != line.npos && !kernels.empty()) {
      const std::vector<Text> arguments = split_list(line.substr(line.find('(', call)));
      if (arguments.size() > 1 && arguments[1] == fmt::format("ptr {}", marked)) {
        kernels.back().note(name_at(line, line.find(pointer, call) + pointer.size()));
        continue;
      }
    }
    text.append(line).append("\n");
  }
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (!kernels[i].constants.empty()) text += note(kernels[i], first_node + 2 * i);
  }
  return text;
}

}  // namespace rung::emu
