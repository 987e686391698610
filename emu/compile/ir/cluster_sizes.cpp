#include "emu/compile/ir/passes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <string_view>
#include <vector>

#include "emu/compile/ir/llvm_text.hpp"

namespace rung::emu {
namespace {

using Text = std::string_view;

/// The text after ` = ` in the line that defines the global variable; empty if no line does.
Text definition(const std::vector<Text>& lines, Text name) {
  constexpr Text equals = " = ";
  for (const Text line : lines) {
    if (line.starts_with(name) && line.substr(name.size()).starts_with(equals)) {
      return line.substr(name.size() + equals.size());
    }
  }
  return {};
}

/// The value in ` ptr @name ` or ` i32 4`.
Text value(Text operand) {
  const std::size_t end = operand.find_last_not_of(' ') + 1;
  return operand.substr(0, end).substr(operand.find_last_of(' ', end - 1) + 1);
}

/// The numbers of `... constant { i32, i32 } { i32 4, i32 1 }, section ...`.
std::vector<Text> numbers(Text constant) {
  constexpr Text between = "} {";
  std::vector<Text> found;
  const std::size_t begin = constant.find(between);
  if (begin == constant.npos) return found;
  for (const Text operand : split_list(constant.substr(begin + between.size() - 1))) {
    found.push_back(value(operand));
  }
  return found;
}

/// The sizes of the kernels that the host's header annotates, by `@name`.
std::map<Text, std::string> annotated(const std::vector<Text>& lines) {
  std::map<Text, std::string> sizes;
  const Text all = definition(lines, "@llvm.global.annotations");
  const std::size_t begin = all.find("] [{");
  if (begin == all.npos) return sizes;
  // `{ ptr, ptr, ptr, i32, ptr } { ptr @kernel, ptr @what, ptr @file, i32 7, ptr @numbers }`, …
  for (std::size_t at = begin; (at = all.find("} { ptr @", at)) != all.npos; at += 3) {
    const std::vector<Text> fields = split_list(all.substr(at + 2));
    if (fields.size() != 5) continue;
    if (definition(lines, value(fields[1])).find("c\"rung.cluster\\00\"") == Text::npos) continue;
    std::vector<Text> extent = numbers(definition(lines, value(fields[4])));
    extent.resize(3, "1");
    sizes[value(fields[0])] = fmt::format("{}", fmt::join(extent, ", "));
  }
  return sizes;
}

/// The name of the function that the line defines, with its @.
Text defined_function(Text line) {
  if (!line.starts_with("define ") || !line.ends_with('{')) return {};
  const std::size_t begin = line.find('@');
  return line.substr(begin, line.find('(', begin) - begin);
}

}  // namespace

std::string state_cluster_sizes(const std::string& module) {
  if (module.find("rung.cluster") == module.npos) return module;
  const std::vector<Text> lines = split_lines(module);
  const std::map<Text, std::string> sizes = annotated(lines);
  std::string text;
  for (const Text line : lines) {
    text.append(line).append("\n");
    const auto size = sizes.find(defined_function(line));
    if (size == sizes.end()) continue;
    text += fmt::format("  call void asm sideeffect \".pragma \\22rung.cluster {}\\22;\", \"\"()\n",
                        size->second);
  }
  return text;
}

}  // namespace rung::emu
