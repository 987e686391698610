#include "emu/compile/ir/passes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string_view>
#include <vector>

#include "emu/compile/ir/llvm_text.hpp"

namespace rung::emu {
namespace {

using Text = std::string_view;

constexpr int max_bytes = 16;
constexpr Text align_word = "align ";

int leading_number(Text text) { return std::atoi(std::string(text.substr(0, 9)).c_str()); }

/// The number after `align `; 1 without an alignment.
int alignment(Text text) {
  const std::size_t at = text.find(align_word);
  return at == text.npos ? 1 : leading_number(text.substr(at + align_word.size()));
}

/// The line of an array, with the alignment of the largest vector.
std::string aligned_array(Text line) {
  const std::size_t at = line.find(align_word);
  if (at == line.npos || alignment(line) >= max_bytes) return std::string(line);
  const std::size_t begin = at + align_word.size();
  const std::size_t end = std::min(line.find_first_not_of("0123456789", begin), line.size());
  return fmt::format("{}{}{}", line.substr(0, begin), max_bytes, line.substr(end));
}

/// A pointer argument, `ptr addrspace(3) align 4 %5`.
struct Pointer {
  Text type, value;

  explicit Pointer(Text argument) : type("ptr") {
    if (argument.starts_with("ptr addrspace(")) type = argument.substr(0, argument.find(')') + 1);
    // The value follows the attributes, which are words, numbers or dereferenceable(16).
    value =
        argument.substr(std::min({argument.find_first_of("%@"), argument.find("addrspacecast ("),
                                  argument.find("getelementptr "), argument.size()}));
  }
};

/// The metadata nodes of a module, by number: `!29` is `!{i64 0, i64 4, !30, ...}`.
class Metadata {
 public:
  explicit Metadata(const std::vector<Text>& lines) {
    for (const Text line : lines) {
      const std::size_t equals = line.find(" = !{");
      if (line.starts_with('!') && equals != line.npos) {
        nodes_[line.substr(0, equals)] = line.substr(equals + 4);
      }
    }
  }

  /// The elements of a structure of tbaa.struct, as an LLVM vector of that many bytes: words if
  /// they differ, nothing if some bytes are in none.
  std::string vector(Text structure, int bytes) const {
    const std::vector<Text> fields = split_list(node(structure));
    std::string element;
    int covered = 0;
    for (std::size_t i = 0; i + 2 < fields.size(); i += 3) {  // i64 offset, i64 bytes, !tag
      const int size = leading_number(fields[i + 1].substr(4));
      const std::string type = scalar(fields[i + 2], size);
      element = element.empty() || type == element ? type : "i32";
      covered += size;
    }
    if (covered != bytes || element.empty()) return {};
    const int width = element == "float" || element == "i32" ? 4 : 8;
    return bytes % width == 0 ? fmt::format("<{} x {}>", bytes / width, element) : std::string();
  }

 private:
  Text node(Text id) const {
    const auto found = nodes_.find(id);
    return found == nodes_.end() ? Text() : found->second;
  }
  /// The type of an access tag; words for what is smaller.
  std::string scalar(Text tag, int bytes) const {
    const std::vector<Text> types = split_list(node(tag));
    const Text type = types.empty() ? Text() : node(types.front());
    if (type.starts_with("{!\"float\"")) return "float";
    if (type.starts_with("{!\"double\"")) return "double";
    return bytes == 8 ? "i64" : "i32";
  }

  std::map<Text, Text> nodes_;
};

/// True if a line of the function before `index` takes the value as the address of a structure's member, whose
/// alignment clang knows.
bool is_member(const std::vector<Text>& lines, std::size_t index, Text value) {
  const std::string definition = fmt::format("  {} = ", value);
  for (std::size_t i = index; i-- > 0 && !lines[i].starts_with("define ");) {
    if (!lines[i].starts_with(definition)) continue;
    const std::size_t type = lines[i].find(" %", definition.size());
    return lines[i].find("getelementptr ") != Text::npos && type < lines[i].find(", ");
  }
  return false;
}

/// A vector's load and store for line `index`, if it copies a structure like one.
std::string vector_copy(const std::vector<Text>& lines, std::size_t index,
                        const Metadata& metadata) {
  const Text line = lines[index];
  constexpr Text copies = "call void @llvm.memcpy.", structure = "!tbaa.struct ";
  const std::size_t call = line.find(copies), tag = line.find(structure);
  if (call == line.npos || tag == line.npos) return {};
  const std::vector<Text> arguments = split_list(line.substr(line.find('(', call)));
  if (arguments.size() != 4 || arguments[3] != "i1 false") return {};
  const int bytes = leading_number(arguments[2].substr(arguments[2].find(' ') + 1));
  const bool is_vector = bytes == 4 || bytes == 8 || bytes == max_bytes;
  // The other side may be an array whose own alignment clang knows.
  if (!is_vector || std::max(alignment(arguments[0]), alignment(arguments[1])) < bytes) return {};
  const std::string type = metadata.vector(line.substr(tag + structure.size()), bytes);
  if (type.empty()) return {};
  const Pointer to(arguments[0]), from(arguments[1]);
  const Pointer& less_aligned = alignment(arguments[0]) < bytes ? to : from;
  const bool both_aligned = std::min(alignment(arguments[0]), alignment(arguments[1])) >= bytes;
  if (!both_aligned && is_member(lines, index, less_aligned.value)) return {};
  const std::size_t debug = line.find(", !dbg");
  const Text place =
      debug == line.npos ? Text() : line.substr(debug, line.find(',', debug + 1) - debug);
  return fmt::format(
      "  %rung.{0} = load {1}, {2} {3}, align {4}{5}\n  store {1} %rung.{0}, {6} {7}, align {4}{5}",
      index, type, from.type, from.value, bytes, place, to.type, to.value);
}

/// Arrays in shared memory and of a thread.
bool is_array(Text line) {
  return (line.starts_with('@') && line.find("addrspace(3) global [") != line.npos) ||
         line.find(" = alloca [") != line.npos;
}

}  // namespace

std::string copy_by_vectors(const std::string& module) {
  const std::vector<Text> lines = split_lines(module);
  const Metadata metadata(lines);
  std::string text;
  bool found = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string copy = vector_copy(lines, i, metadata);
    found = found || !copy.empty();
    text += !copy.empty()        ? copy
            : is_array(lines[i]) ? aligned_array(lines[i])
                                 : std::string(lines[i]);
    text += '\n';
  }
  return found ? text : module;
}

}  // namespace rung::emu
