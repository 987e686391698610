#include "emu/compile/ir/passes.hpp"

#include <fmt/format.h>

#include <map>
#include <string_view>

#include "emu/compile/ir/llvm_text.hpp"

namespace rung::emu {
namespace {

using Text = std::string_view;

/// The constants with an address in shared memory, by name: their type and value, as in
/// `@t = private unnamed_addr constant [1 x ptr] [ptr addrspacecast (...)], align 8`.
std::map<Text, Text> tables(const std::vector<Text>& lines) {
  constexpr Text constant = "constant ";
  std::map<Text, Text> found;
  for (const Text line : lines) {
    const std::size_t equals = line.find(" = private "), value = line.find(constant);
    if (!line.starts_with('@') || equals == line.npos || value == line.npos) continue;
    if (line.find("ptr addrspace(3) @") == line.npos) continue;
    const std::size_t begin = value + constant.size();
    found[line.substr(0, equals)] = line.substr(begin, line.rfind(", align ") - begin);
  }
  return found;
}

/// The store for the line, if it copies a whole table.
std::string table_store(Text line, const std::map<Text, Text>& tables) {
  constexpr Text copies = "call void @llvm.memcpy.";
  const std::size_t call = line.find(copies);
  if (call == line.npos) return {};
  const std::vector<Text> arguments = split_list(line.substr(line.find('(', call)));
  if (arguments.size() != 4) return {};
  const std::size_t name = arguments[1].find('@');
  const auto table = name == Text::npos ? tables.end() : tables.find(arguments[1].substr(name));
  if (table == tables.end()) return {};
  // `ptr align 8 %5` becomes `ptr %5, align 8` in a store.
  constexpr Text aligned = "ptr align ";
  if (!arguments[0].starts_with(aligned)) return {};
  const Text place = arguments[0].substr(aligned.size());
  const std::size_t space = place.find(' ');
  const std::size_t debug = line.find(", !dbg"), end = line.find(',', debug + 1);
  return fmt::format("  store {}, ptr {}, align {}{}", table->second, place.substr(space + 1),
                     place.substr(0, space),
                     debug == line.npos ? Text() : line.substr(debug, end - debug));
}

}  // namespace

std::string store_shared_addresses(const std::string& module) {
  const std::vector<Text> lines = split_lines(module);
  const std::map<Text, Text> found = tables(lines);
  if (found.empty()) return module;
  std::string text;
  for (const Text line : lines) {
    const std::string store = table_store(line, found);
    text += store.empty() ? line : Text(store);
    text += '\n';
  }
  return text;
}

}  // namespace rung::emu
