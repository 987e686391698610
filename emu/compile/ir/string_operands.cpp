#include <algorithm>
#include <charconv>
#include <map>
#include <vector>

#include "emu/compile/ir/llvm_text.hpp"
#include "emu/compile/ir/passes.hpp"

namespace rung::emu {
namespace {

using Text = std::string_view;

constexpr Text quoted = "c\"";

/// The texts of the module's constant arrays of characters, by name, without the zero at their end.
std::map<Text, Text> constant_strings(const std::vector<Text>& lines) {
  constexpr Text end_of_text = "\\00\"";
  std::map<Text, Text> strings;
  for (const Text line : lines) {
    const std::size_t begin = line.find(quoted), end = line.find(end_of_text);
    if (!line.starts_with('@') || begin == line.npos || end == line.npos) continue;
    if (line.substr(0, begin).find(" constant [") == line.npos) continue;
    const std::size_t first = begin + quoted.size();
    strings[line.substr(0, line.find(' '))] = line.substr(first, end - first);
  }
  return strings;
}

/// The text as part of an assembly string, in which these characters separate variants and mark operands.
std::string escaped(Text text) {
  std::string result;
  for (const char c : text) {
    if (c == '{') {
      result += "$(";
    } else if (c == '}') {
      result += "$)";
    } else {
      if (c == '|' || c == '$') result += '$';
      result += c;
    }
  }
  return result;
}

/// The text between the quote at `at` and the next.
Text string_at(Text line, std::size_t at) {
  const std::size_t end = line.find('"', at + 1);
  return end == line.npos ? Text() : line.substr(at + 1, end - at - 1);
}

/// The array that an argument is the address of, `ptr addrspacecast (ptr addrspace(4) @name to ptr)`; empty for others.
Text named_array(Text argument) {
  const std::size_t begin = argument.find('@');
  if (!argument.starts_with("ptr ") || begin == argument.npos) return {};
  return argument.substr(begin, argument.find_first_of(" ,)", begin) - begin);
}

/// The assembly string with the texts of its operands in place of `$number`.
std::string with_texts(Text assembly, const std::map<int, Text>& texts) {
  std::string result;
  for (std::size_t at = 0; at < assembly.size(); ++at) {
    result += assembly[at];
    if (assembly[at] != '$') continue;
    const char* const begin = assembly.data() + at + 1;
    const char* const end = assembly.data() + assembly.size();
    int number = -1;
    const char* const rest = std::from_chars(begin, end, number).ptr;
    const auto found = rest == begin ? texts.end() : texts.find(number);
    if (found != texts.end()) {
      result.pop_back();
      result += escaped(found->second);
      at = static_cast<std::size_t>(rest - assembly.data()) - 1;
    } else if (begin != end) {
      result += assembly[++at];  // $$ and other escapes, and ${
    }
  }
  return result;
}

/// The texts of the operands, by number, of the call whose constraints are given.
std::map<int, Text> operand_texts(Text constraints, const std::vector<Text>& arguments,
                                  const std::map<Text, Text>& strings) {
  std::map<int, Text> texts;
  std::size_t argument = 0;
  int number = 0;
  const std::string list = "(" + std::string(constraints) + ")";
  for (const Text constraint : split_list(list)) {
    const bool is_clobber = constraint.starts_with('~');
    const bool is_register_output = constraint.starts_with('=') && !constraint.starts_with("=*");
    if (!is_clobber && !is_register_output && argument < arguments.size()) {
      const auto found = strings.find(named_array(arguments[argument]));
      if (constraint == "i" && found != strings.end()) texts[number] = found->second;
      ++argument;
    }
    ++number;
  }
  return texts;
}

/// The arguments with a number, which the assembly does not use, in place of strings: clang has no addresses as
/// operands for this target.
std::string without_strings(Text arguments, const std::map<Text, Text>& strings) {
  std::string result(arguments);
  for (const Text argument : split_list(arguments)) {
    if (!strings.contains(named_array(argument))) continue;
    result.replace(result.find(argument), argument.size(), "i32 0");
  }
  return result;
}

}  // namespace

std::string paste_string_operands(const std::string& module) {
  constexpr Text call = " asm ", pointer = "ptr addrspacecast (ptr addrspace(";
  if (module.find(call) == module.npos) return module;
  const std::vector<Text> lines = split_lines(module);
  const std::map<Text, Text> strings = constant_strings(lines);
  if (strings.empty()) return module;
  std::string text;
  for (const Text line : lines) {
    const std::size_t at = line.find(call);
    const std::size_t assembly_at = at == line.npos ? at : line.find('"', at);
    if (assembly_at == line.npos || line.find(pointer, at) == line.npos) {
      text.append(line).append("\n");
      continue;
    }
    const Text assembly = string_at(line, assembly_at);
    const std::size_t constraints_at = line.find('"', assembly_at + assembly.size() + 2);
    const Text constraints = string_at(line, constraints_at);
    const std::size_t arguments_at = constraints_at + constraints.size() + 2;
    const auto texts = operand_texts(constraints, split_list(line.substr(arguments_at)), strings);
    text.append(line.substr(0, assembly_at + 1)).append(with_texts(assembly, texts));
    text.append(line.substr(assembly_at + 1 + assembly.size(),
                            arguments_at - (assembly_at + 1 + assembly.size())));
    text.append(without_strings(line.substr(arguments_at), strings)).append("\n");
  }
  return text;
}

}  // namespace rung::emu
