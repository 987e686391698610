#include "emu/compile/ir/inlined_calls.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <unordered_map>
#include <vector>

#include "emu/compile/ir/llvm_text.hpp"

namespace rung::emu {
namespace {

using Text = std::string_view;

/// A column of LLVM has 16 bits. Later calls are left out.
constexpr std::size_t most_calls = 65535;

/// A metadata node: `!7 = !DILocation(line: 3, column: 21, scope: !9)`.
struct Node {
  Text name;  // "!7"
  Text kind;  // "DILocation"
  Text line;
};

/// A node of one of the kinds below; otherwise its kind is empty.
Node node_of(Text line) {
  if (!line.starts_with('!')) return {};
  const std::size_t equals = line.find(" = ");
  const std::size_t kind = line.find("!DI", equals);
  // A node that has another kind, such as `!{…}`, may contain such a text only after its bracket.
  if (equals == line.npos || kind == line.npos || kind > equals + 12) return {};
  return {line.substr(0, equals), line.substr(kind + 1, line.find('(', kind) - kind - 1), line};
}

/// The value of a field: `!9` of `scope: !9,`.
Text field(Text line, Text name) {
  const std::string begin = fmt::format("{}: ", name);
  std::size_t at = line.find(begin);
  while (at != line.npos && line[at - 1] != '(' && line[at - 1] != ' ') {
    at = line.find(begin, at + 1);
  }
  if (at == line.npos) return {};
  at += begin.size();
  return line.substr(at, line.find_first_of(",)", at) - at);
}

/// The text between the quotes of a field; escapes stay as they are: \22 and the like.
Text quoted_field(Text line, Text name) {
  const std::string begin = fmt::format("{}: \"", name);
  const std::size_t at = line.find(begin);
  if (at == line.npos) return {};
  return line.substr(at + begin.size(), line.find('"', at + begin.size()) - at - begin.size());
}

/// As PTX has it in a string: LLVM's \22 is the octal \042 there, and its \\ a backslash.
std::string in_octal(Text text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      result += text[i];
      continue;
    }
    if (text.substr(i + 1, 1) == "\\") {
      result += "\\134";
      ++i;
      continue;
    }
    if (i + 2 >= text.size()) break;
    result += fmt::format("\\{:03o}", std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
    i += 2;
  }
  return result;
}

class Numbering {
 public:
  explicit Numbering(Text module) : lines_(split_lines(module)) {
    for (const Text line : lines_) {
      const Node node = node_of(line);
      if (node.kind == "DIFile") files_[node.name] = path_of(line);
      if (node.kind == "DISubprogram" || node.kind.starts_with("DILexicalBlock")) {
        scopes_[node.name] = field(line, "file");
      }
      if (node.kind == "DILocation") {
        locations_[node.name] = line;
        if (const Text call = field(line, "inlinedAt"); !call.empty()) number(call);
      }
    }
  }

  InlinedCalls result() const {
    InlinedCalls calls;
    for (const Text line : lines_) {
      if (node_of(line).kind == "DILocation") {
        append_location(calls.module, line);
      } else {
        calls.module.append(line);
      }
      calls.module += '\n';
    }
    for (const Text call : calls_) append_comment(calls.comments, call);
    return calls;
  }

 private:
  static std::string path_of(Text line) {
    const std::string file = in_octal(quoted_field(line, "filename"));
    const std::string folder = in_octal(quoted_field(line, "directory"));
    return (std::filesystem::path(folder) / file).string();
  }
  void number(Text call) {
    if (calls_.size() < most_calls && numbers_.try_emplace(call, calls_.size() + 1).second) {
      calls_.push_back(call);
    }
  }
  std::size_t number_of(Text call) const {
    const auto found = numbers_.find(call);
    return found == numbers_.end() ? 0 : found->second;
  }
  void append_location(std::string& text, Text line) const {
    const std::size_t number = number_of(field(line, "inlinedAt"));
    const std::size_t column = line.find(", column: ");
    const std::size_t scope = line.find(", scope: ");
    text.append(line.substr(0, std::min(column, scope)));
    if (number != 0) text += fmt::format(", column: {}", number);
    text.append(line.substr(scope));
  }
  void append_comment(std::string& text, Text call) const {
    const auto location = locations_.find(call);
    if (location == locations_.end()) return;
    const auto scope = scopes_.find(field(location->second, "scope"));
    const auto file = scope == scopes_.end() ? files_.end() : files_.find(scope->second);
    if (file == files_.end()) return;
    const Text line = field(location->second, "line");
    text += fmt::format("// rung.inlined {} {} {} {}\n", number_of(call), line.empty() ? "0" : line,
                        number_of(field(location->second, "inlinedAt")), file->second);
  }

  std::vector<Text> lines_;
  std::unordered_map<Text, std::string> files_;
  std::unordered_map<Text, Text> scopes_;     // their files
  std::unordered_map<Text, Text> locations_;  // their lines of the module
  std::unordered_map<Text, std::size_t> numbers_;
  std::vector<Text> calls_;  // in the order of their numbers, from 1
};

}  // namespace

InlinedCalls number_inlined_calls(std::string_view module) { return Numbering(module).result(); }

std::string with_inlined_calls(const std::string& ptx, const std::string& comments) {
  constexpr Text head = ".address_size 64\n";
  const std::size_t at = ptx.find(head);
  if (at == ptx.npos || comments.empty()) return ptx;
  std::string text = ptx;
  return text.insert(at + head.size(), comments);
}

}  // namespace rung::emu
