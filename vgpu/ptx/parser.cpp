#include "vgpu/ptx/parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "vgpu/ptx/body.hpp"
#include "vgpu/ptx/constant.hpp"
#include "vgpu/ptx/functions.hpp"
#include "vgpu/ptx/lexer.hpp"
#include "vgpu/ptx/limits.hpp"
#include "vgpu/ptx/symbols.hpp"
#include "vgpu/ptx/variables.hpp"

namespace rung::vgpu::ptx {

namespace {

/// Decodes a name in a string written by LLVM: \" \\ \b \f \n \r \t, and other bytes in octal, such
/// as \377.
std::string unescaped(std::string_view text) {
  std::string name;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool is_escape = text[at] == '\\' && at + 1 < text.size();
    if (!is_escape) {
      name += text[at];
      continue;
    }
    const char letter = text[++at];
    const std::string_view digits = text.substr(at, 3);
    if (digits.size() == 3 && digits.find_first_not_of("01234567") == digits.npos) {
      name += static_cast<char>(64 * (digits[0] - '0') + 8 * (digits[1] - '0') + digits[2] - '0');
      at += 2;
    } else {
      constexpr std::string_view letters = "bfnrt", meanings = "\b\f\n\r\t";
      const std::size_t known = letters.find(letter);
      name += known == letters.npos ? letter : meanings[known];
    }
  }
  return name;
}

/// Parses a module from its first directive to the end of the text (PTX ISA, chapter 11).
class ModuleParser {
 public:
  ModuleParser(std::string_view text, std::string_view name) : lexer_(text, name) {
    inlined_calls(text);
  }

  Module parse() {
    version();
    target();
    while (!lexer_.at(Token::Kind::end)) statement();
    check_fixups();
    check_aliases();
    check_constant_memory();
    name_all_files();
    return std::move(module_);
  }

 private:
  void version();
  void target();
  void statement();
  void address_size();
  void file();
  void section();
  void inlined_calls(std::string_view text);
  void inlined_call(std::string_view text);
  void alias();
  void variables(bool external);
  void check_fixups() const;
  void check_aliases() const;
  void check_constant_memory() const;
  void name_all_files();

  Lexer lexer_;
  Symbols symbols_;
  VariableParser variables_{lexer_};
  Module module_;
  FunctionParser functions_{lexer_, symbols_, variables_, module_};
  std::unordered_map<std::string_view, std::size_t> slots_;  // in module_.variables
  std::vector<int> alias_lines_;
};

/// Parses `.version 8.7`.
void ModuleParser::version() {
  lexer_.expect(".version");
  const Token number = lexer_.peek();
  const std::size_t dot = number.text.find('.');
  const bool is_version = number.kind == Token::Kind::real && dot == 1 && number.text.size() == 3;
  if (!is_version) lexer_.fail_expected("a version, such as 8.7");
  lexer_.take();
  module_.version_major = number.text[0] - '0';
  module_.version_minor = number.text[2] - '0';
  if (module_.version_major < 6) {
    lexer_.fail(number.line, fmt::format("version is {}, allowed are 6.0 to 9.9", number.text));
  }
}

/// Parses `.target sm_90a, debug`.
void ModuleParser::target() {
  lexer_.expect(".target");
  module_.target = lexer_.expect(Token::Kind::identifier, "a target, such as sm_80").text;
  while (lexer_.accept(",")) lexer_.expect(Token::Kind::identifier, "an option of the target");
}

void ModuleParser::statement() {
  bool external = false;
  while (lexer_.at(".extern") || lexer_.at(".visible") || lexer_.at(".weak") ||
         lexer_.at(".common")) {
    external |= lexer_.take().text == ".extern";
  }
  if (lexer_.at(".func") || lexer_.at(".entry")) return functions_.parse();
  if (lexer_.at(".address_size")) return address_size();
  if (lexer_.at(".file")) return file();
  if (lexer_.at(".section")) return section();
  if (lexer_.at(".alias")) return alias();
  if (lexer_.at(".pragma")) return skip_pragma(lexer_);
  const bool is_variable =
      lexer_.at(".global") || lexer_.at(".const") || lexer_.at(".shared") || lexer_.at(".local");
  if (!is_variable) lexer_.fail_expected("a function, a variable or another directive of a module");
  variables(external);
}

void ModuleParser::address_size() {
  lexer_.expect(".address_size");
  const int line = lexer_.peek().line;
  module_.address_size = static_cast<int>(parse_literal(lexer_, "the address size", 32, 64));
  if (module_.address_size != 32 && module_.address_size != 64) {
    lexer_.fail(line,
                fmt::format("the address size is {}, allowed are 32 and 64", module_.address_size));
  }
}

/// Parses `.file 1 "a.cu"`, which `, timestamp, size` follows in old texts.
void ModuleParser::file() {
  lexer_.expect(".file");
  const auto index =
      static_cast<std::size_t>(parse_literal(lexer_, "the number of a file", 0, limits::max_files));
  const Token path = lexer_.expect(Token::Kind::string, "the path of a file");
  while (lexer_.accept(",")) lexer_.expect(Token::Kind::integer, "a time or a size");
  if (index >= module_.files.size()) module_.files.resize(index + 1);
  module_.files[index] = unescaped(path.text);
}

/// Skips `.section .debug_str { … }`, which is only for debuggers.
void ModuleParser::section() {
  lexer_.expect(".section");
  lexer_.expect(Token::Kind::dotted, "the name of a section");
  lexer_.expect("{");
  while (!lexer_.accept("}")) {
    if (lexer_.at(Token::Kind::end)) lexer_.fail_expected("'}' at the end of a section");
    lexer_.take();
  }
}

/// Reads the comments "// rung.inlined 7 120 3 /src/gemm.cu": call 7 is in that line, and its function was inlined for
/// call 3. `rung emu` writes them, and the numbers of calls as the columns of .loc (emu/compile/ir/inlined_calls.cpp):
/// ptxas refuses pragmas that it does not know.
void ModuleParser::inlined_calls(std::string_view text) {
  constexpr std::string_view mark = "\n// rung.inlined ";
  for (std::size_t at = text.find(mark); at != text.npos; at = text.find('\n', at + 1)) {
    if (!text.substr(at).starts_with(mark)) return;
    const std::size_t begin = at + mark.size();
    inlined_call(text.substr(begin, text.find('\n', begin) - begin));
  }
}

void ModuleParser::inlined_call(std::string_view text) {
  std::array<std::uint32_t, 3> numbers{};
  for (std::uint32_t& number : numbers) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const auto length = static_cast<std::size_t>(end - text.data());
    if (error != std::errc() || length >= text.size() || number > limits::max_inlined_calls) return;
    text.remove_prefix(length + 1);
  }
  const auto [call, line, inlined_by] = numbers;
  if (module_.calls.size() <= call) module_.calls.resize(call + 1);
  module_.calls[call] = {unescaped(text), 0, static_cast<int>(line), inlined_by};
  module_.has_numbered_calls = true;
}

/// Parses `.alias name, target;`.
void ModuleParser::alias() {
  lexer_.expect(".alias");
  const Token alias = lexer_.expect(Token::Kind::identifier, "the name of a function");
  lexer_.expect(",");
  const Token target = lexer_.expect(Token::Kind::identifier, "the name of a function");
  lexer_.expect(";");
  module_.aliases.push_back({std::string(alias.text), std::string(target.text)});
  alias_lines_.push_back(alias.line);
}

void ModuleParser::variables(bool external) {
  for (Declaration& declaration : variables_.parse(external)) {
    const auto [known, fresh] = slots_.try_emplace(declaration.name, module_.variables.size());
    Variable& variable = declaration.variable;
    if (fresh && symbols_.declare_global(declaration.name)) {
      module_.variables.push_back(std::move(variable));
    } else if (!fresh && (external || module_.variables[known->second].external)) {
      if (!external) module_.variables[known->second] = std::move(variable);
    } else {
      lexer_.fail(variable.line, fmt::format("{} is defined twice", in_quotes(declaration.name)));
    }
  }
}

void ModuleParser::check_fixups() const {
  std::unordered_set<std::string_view> known;
  for (const Variable& variable : module_.variables) known.insert(variable.name);
  for (const Function& function : module_.functions) known.insert(function.name);
  for (const Variable& variable : module_.variables) {
    for (const Variable::Fixup& fixup : variable.fixups) {
      if (known.contains(fixup.symbol)) continue;
      lexer_.fail(variable.line, fmt::format("{} in the initialiser of {} is not declared",
                                             in_quotes(fixup.symbol), in_quotes(variable.name)));
    }
  }
}

/// Checks that the module's constant variables fit in 64 KB (PTX ISA, "Constant State Space"), as
/// ptxas does.
void ModuleParser::check_constant_memory() const {
  constexpr std::int64_t most = 65536;
  std::int64_t bytes = 0;
  for (const Variable& variable : module_.variables) {
    if (variable.space != Space::constant) continue;
    bytes += std::min(variable.bytes(), most + 1);
    if (bytes <= most) continue;
    lexer_.fail(variable.line,
                fmt::format("{} exceeds constant memory: the constant variables of a module may "
                            "have {} bytes together",
                            in_quotes(variable.name), most));
  }
}

/// Checks that every alias refers to a function with a body, not to another alias.
void ModuleParser::check_aliases() const {
  std::unordered_set<std::string_view> declared, defined;
  for (const Function& function : module_.functions) {
    (function.external ? declared : defined).insert(function.name);
  }
  for (std::size_t i = 0; i < module_.aliases.size(); ++i) {
    const Alias& alias = module_.aliases[i];
    if (declared.contains(alias.name) && defined.contains(alias.target)) continue;
    lexer_.fail(alias_lines_[i], fmt::format("alias {} of {}: the first must be a function that is "
                                             "declared only, the second one that is defined",
                                             in_quotes(alias.name), in_quotes(alias.target)));
  }
}

/// Ensures that every SourceLine::file is a valid index, even if a `.file` is missing.
void ModuleParser::name_all_files() {
  std::size_t files = std::max<std::size_t>(module_.files.size(), 1);
  for (const Function& function : module_.functions) {
    for (const Instruction& instruction : function.body) {
      files = std::max(files, static_cast<std::size_t>(instruction.source.file) + 1);
    }
  }
  for (const InlinedCall& call : module_.calls) {
    files = std::max(files, static_cast<std::size_t>(call.file_number) + 1);
  }
  module_.files.resize(files);
  for (InlinedCall& call : module_.calls) {
    if (call.file_number != 0)
      call.file = module_.files[static_cast<std::size_t>(call.file_number)];
  }
}

}  // namespace

ParseError::ParseError(std::string_view name, int at, const std::string& message)
    : std::runtime_error(fmt::format("{}:{}: {}", name, at, message)), line(at) {}

Module parse(std::string_view text, std::string_view name) {
  return ModuleParser(text, name).parse();
}

}  // namespace rung::vgpu::ptx
