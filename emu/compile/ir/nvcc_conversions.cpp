#include "emu/compile/ir/passes.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <set>
#include <string_view>

#include "emu/compile/ir/llvm_text.hpp"

namespace rung::emu {
namespace {

using Text = std::string_view;

/// A line such as `  %2 = call i8 @llvm.fptoui.sat.i8.f32(float %1), !dbg !5`.
class Conversion {
 public:
  explicit Conversion(Text line) {
    constexpr Text function = "@llvm.fpto";
    const std::size_t name = line.find(function), call = line.find("= call i");
    if (name == line.npos || call == line.npos || call > name) return;
    const std::size_t letter = name + function.size();  // of `si` or `ui`
    const std::size_t open = line.find('(', letter), close = line.find(')', letter);
    if (open == line.npos || close == line.npos) return;
    const Text floats = line.substr(open + 1, line.find(' ', open) - open - 1);
    bits_ = std::atoi(std::string(line.substr(call + 8, 3)).c_str());
    is_half_ = floats == "half";
    if ((floats != "float" && floats != "double" && !is_half_) || bits_ > 64) return;
    result_ = line.substr(0, call);
    argument_ = line.substr(open + 1, close - open - 1);
    rest_ = line.substr(close + 1);
    type_ = bits_ == 64 ? "i64" : "i32";
    const bool is_unsigned = line[letter] == 'u';
    if (!is_half_ && argument_.find('%') == argument_.npos) {
      // LLVM folds the intrinsic to an undefined value. Literals within range were folded by clang.
      function_ = fmt::format(R"(asm "cvt.rzi.{}{}.f{} $0, $1;", "={},{}")",
                              is_unsigned ? 'u' : 's', type_.substr(1), floats == "float" ? 32 : 64,
                              bits_ == 64 ? 'l' : 'r', floats[0]);
      return;
    }
    const Text from = is_half_ ? "float" : floats;
    function_ = fmt::format("@llvm.nvvm.{}2{}{}.rz", from[0], is_unsigned ? "u" : "",
                            bits_ == 64 ? "ll" : "i");
    declaration_ = fmt::format("declare {} {}({})\n", type_, function_, from);
  }
  explicit operator bool() const { return !function_.empty(); }
  /// The declaration of the function that the new lines call; empty for inline assembly.
  const std::string& declaration() const { return declaration_; }
  /// The lines in its place. `index` makes names of values unique.
  std::string text(std::size_t index) const {
    const Text debug = rest_.substr(std::min(rest_.find(", !dbg"), rest_.size()));
    std::string lines, argument(argument_);
    if (is_half_) {
      argument = fmt::format("float %rung.float.{}", index);
      lines = fmt::format("  {} = fpext {} to float{}\n", argument.substr(6), argument_, debug);
    }
    const std::string call = fmt::format("call {} {}({}){}", type_, function_, argument, rest_);
    if (bits_ >= 32) return fmt::format("{}{}= {}", lines, result_, call);
    const std::string value = fmt::format("%rung.wide.{}", index);
    return fmt::format("{}  {} = {}\n{}= trunc i32 {} to i{}{}", lines, value, call, result_, value,
                       bits_, debug);
  }

 private:
  int bits_ = 0;
  bool is_half_ = false;
  Text result_, argument_, rest_, type_;
  std::string function_, declaration_;
};

/// The node `!{i8 0, i8 2}`, as in `!16`; empty if the module has no such node.
std::string bool_range(const std::vector<Text>& lines) {
  constexpr Text node = " = !{i8 0, i8 2}";
  for (const Text line : lines) {
    if (line.ends_with(node)) return std::string(line.substr(0, line.size() - node.size()));
  }
  return {};
}

/// The line of a load without the promise that the byte is 0 or 1; its value made a bool by a
/// comparison.
std::string compare_bool(Text line, const std::string& range) {
  constexpr Text narrowed = "= trunc i8 ", end = " to i1";
  const std::size_t trunc = line.find(narrowed), to = line.find(end);
  if (trunc != line.npos && to != line.npos) {
    const std::size_t value = trunc + narrowed.size();
    return fmt::format("{}= icmp ne i8 {}, 0{}", line.substr(0, trunc),
                       line.substr(value, to - value), line.substr(to + end.size()));
  }
  const std::string note = ", !range " + range;
  const std::size_t at = range.empty() ? line.npos : line.find(note + ",");
  if (at == line.npos) return std::string(line);
  return std::string(line.substr(0, at)).append(line.substr(at + note.size()));
}

}  // namespace

std::string nvcc_conversions(const std::string& module) {
  const std::vector<Text> lines = split_lines(module);
  const std::string range = bool_range(lines);
  std::set<std::string> declarations;
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Conversion conversion(lines[i]);
    if (conversion) declarations.insert(conversion.declaration());
    text += conversion ? conversion.text(i) : compare_bool(lines[i], range);
    text += '\n';
  }
  for (const std::string& declaration : declarations) {
    if (module.find(declaration.substr(0, declaration.size() - 1)) == module.npos) {
      text += declaration;
    }
  }
  return text;
}

}  // namespace rung::emu
