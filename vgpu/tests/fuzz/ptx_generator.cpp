#include "vgpu/tests/fuzz/ptx_generator.hpp"

#include <algorithm>
#include <cctype>
#include <set>

#include "vgpu/tests/fuzz/ptx_case.hpp"

namespace rung::vgpu {
namespace {

constexpr std::size_t longest_text = 60000;  // longer texts take too long to run

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
}

std::string trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0)
    text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0)
    text.remove_suffix(1);
  return std::string(text);
}

/// Splits at separators outside brackets.
std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    if (c == '[' || c == '{' || c == '(') ++depth;
    if (c == ']' || c == '}' || c == ')') --depth;
    if (c == separator && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  for (std::string& part : parts) part = trimmed(part);
  return parts;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines(1);
  for (const char c : text) {
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += c;
    }
  }
  return lines;
}

/// The statement without its digits, so that instructions that differ only in numbers have the same
/// form.
std::string form_of(const PtxStatement& statement) {
  std::string form = statement.text();
  std::erase_if(form, [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; });
  std::string mnemonic;
  for (const std::string& part : statement.mnemonic) mnemonic += part;
  return mnemonic + form;
}

/// The declarations of a newly generated kernel. Its operands are chosen to match them.
constexpr std::string_view head =
    ".version 8.3\n.target sm_90a\n.address_size 64\n"
    ".global .align 16 .b8 in_global[256];\n.const .align 16 .b8 in_constant[64];\n"
    ".shared .align 128 .b8 in_shared[8192];\n.extern .shared .align 16 .b8 dynamic[];\n"
    ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"
    ".extern .func (.param .b64 r) malloc (.param .b64 a);\n"
    ".func (.reg .b32 result) own (.reg .b32 a, .param .b64 b)\n{\n  .reg .b32 %x<3>;\n"
    "  add.u32 %x1, a, 1;\n  mov.b32 result, %x1;\n  ret;\n}\n"
    ".visible .entry k(.param .u64 pointer, .param .u32 count, .param .align 8 .b8 whole[16])\n{\n"
    "  .reg .pred %p<8>;\n  .reg .b16 %rs<12>;\n  .reg .b32 %r<24>;\n  .reg .b64 %rd<16>;\n"
    "  .reg .f32 %f<24>;\n  .reg .f64 %fd<12>;\n  .reg .v2 .b32 %two;\n"
    "  .local .align 16 .b8 in_local[64];\n  .param .b64 passed;\n  .param .b32 returned;\n"
    "  ld.param.u64 %rd0, [pointer];\n  mov.u32 %r0, %tid.x;\n  mov.u32 %r1, in_shared;\n"
    "  mov.u64 %rd1, in_shared;\n  mov.u64 %rd2, in_local;\n  mov.u64 %rd3, %rd0;\n"
    "  mul.wide.u32 %rd4, %r0, 4;\n  add.u64 %rd4, %rd4, %rd0;\n  shl.b32 %r2, %r0, 4;\n"
    "  add.u32 %r3, %r1, %r2;\n  setp.lt.u32 %p1, %r0, 40;\n  mov.u32 %r4, 1;\n  mov.f32 %f1, "
    "0f3F800000;\n"
    "  mov.b64 %rd5, 0;\n  mov.u16 %rs1, 3;\n  setp.eq.u32 %p2, %r0, %r0;\n";

const std::vector<std::string>& plain_operands() {
  static const std::vector<std::string> operands = {"%r0",
                                                    "%r5",
                                                    "%rd0",
                                                    "%rd4",
                                                    "%f1",
                                                    "%fd2",
                                                    "%p1",
                                                    "!%p1",
                                                    "-%r4",
                                                    "%rs1",
                                                    "%two",
                                                    "%two.x",
                                                    "_",
                                                    "0",
                                                    "1",
                                                    "-1",
                                                    "2",
                                                    "3",
                                                    "4",
                                                    "5",
                                                    "7",
                                                    "8",
                                                    "16",
                                                    "31",
                                                    "32",
                                                    "33",
                                                    "63",
                                                    "64",
                                                    "128",
                                                    "255",
                                                    "256",
                                                    "1000",
                                                    "65536",
                                                    "4294967295",
                                                    "4294967296",
                                                    "9223372036854775807",
                                                    "-9223372036854775808",
                                                    "0f3F800000",
                                                    "0f7FC00000",
                                                    "0d7FF0000000000000",
                                                    "1.5",
                                                    "%tid.x",
                                                    "%laneid",
                                                    "%clock",
                                                    "%clock64",
                                                    "%lanemask_lt",
                                                    "in_shared",
                                                    "in_global",
                                                    "in_constant",
                                                    "in_local",
                                                    "pointer",
                                                    "passed",
                                                    "dynamic",
                                                    "own",
                                                    "[%rd0]",
                                                    "[%rd4]",
                                                    "[%r3]",
                                                    "[%rd0+4]",
                                                    "[%rd4+-8]",
                                                    "[in_shared]",
                                                    "[in_shared+8]",
                                                    "[in_global]",
                                                    "[in_constant+4]",
                                                    "[in_local]",
                                                    "[pointer]",
                                                    "[whole+8]",
                                                    "[passed]",
                                                    "[returned]",
                                                    "[0]",
                                                    "[%p1]",
                                                    "[%rs1]",
                                                    "[%f1]",
                                                    "[%rd0+9223372036854775807]",
                                                    "[%rd0, {%r0, %r5}]",
                                                    "[%rd0, {%r0}]",
                                                    "[%rd0, %r0]",
                                                    "{%r0, %r5}",
                                                    "{%r0}",
                                                    "{%f1, %f2}",
                                                    "{%rs1, %rs2}",
                                                    "{%r4, %r5, %r6, %r7}",
                                                    "{%f1, %f2, %f3, %f4}",
                                                    "{%rs1, %rs2, %rs3, %rs4}",
                                                    "{%two, %r1}",
                                                    "{%r4, _}",
                                                    "{%rd0, %rd1}",
                                                    "{1, 2}",
                                                    "%p1|%p2",
                                                    "%r5|%p1",
                                                    "%r5|_",
                                                    "_|%p1",
                                                    "(%r0)",
                                                    "(%r0, %rd0)",
                                                    "(passed)",
                                                    "(returned)",
                                                    "(passed, passed)",
                                                    "()",
                                                    "L0",
                                                    "L1",
                                                    "table",
                                                    "vprintf",
                                                    "malloc"};
  return operands;
}

const std::vector<std::string>& plain_modifiers() {
  static const std::vector<std::string> modifiers = {
      "b8",       "b16",     "b32",         "b64",
      "b128",     "u8",      "u16",         "u32",
      "u64",      "s8",      "s16",         "s32",
      "s64",      "f16",     "f16x2",       "bf16",
      "bf16x2",   "tf32",    "f32",         "f64",
      "pred",     "e4m3x2",  "v2",          "v4",
      "v8",       "global",  "shared",      "local",
      "const",    "param",   "shared::cta", "shared::cluster",
      "cc",       "sat",     "ftz",         "rn",
      "rz",       "wide",    "hi",          "lo",
      "volatile", "relaxed", "acquire",     "release",
      "gpu",      "cta",     "sync",        "aligned",
      "x1",       "x2",      "x4",          "trans",
      "row",      "col",     "cache_hint",  "L2::cache_hint",
      "noinc",    "parity",  "expect_tx",   "multicast::cluster"};
  return modifiers;
}

}  // namespace

std::string PtxStatement::text() const {
  std::string text = guard.empty() ? "" : guard + " ";
  for (std::size_t i = 0; i < mnemonic.size(); ++i) text += (i == 0 ? "" : ".") + mnemonic[i];
  for (std::size_t i = 0; i < operands.size(); ++i) text += (i == 0 ? " " : ", ") + operands[i];
  return text + ";";
}

bool read_statement(std::string_view line, PtxStatement& statement) {
  std::string text = trimmed(line.substr(0, line.find("//")));
  if (text.empty() || text.back() != ';' || text.find(';') + 1 != text.size()) return false;
  text.pop_back();
  statement = {};
  if (text.front() == '@') {
    const std::size_t end = text.find_first_of(" \t");
    if (end == std::string::npos) return false;
    statement.guard = text.substr(0, end);
    text = trimmed(std::string_view(text).substr(end));
  }
  if (text.empty() || std::islower(static_cast<unsigned char>(text.front())) == 0) return false;
  const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
  statement.mnemonic = split(std::string_view(text).substr(0, end), '.');
  const std::string rest = trimmed(std::string_view(text).substr(end));
  if (!rest.empty()) statement.operands = split(rest, ',');
  return true;
}

PtxGenerator::PtxGenerator(const std::vector<std::string>& texts) {
  std::set<std::string> forms, modifiers(plain_modifiers().begin(), plain_modifiers().end());
  for (const std::string& text : texts) {
    std::vector<std::string> lines = lines_of(text);
    for (const std::string& line : lines) {
      PtxStatement statement;
      if (!read_statement(line, statement) || !forms.insert(form_of(statement)).second) continue;
      modifiers.insert(statement.mnemonic.begin() + 1, statement.mnemonic.end());
      statements_.push_back(std::move(statement));
    }
    const bool is_short = text.size() <= longest_text;
    if (is_short && run_ptx_case(text).outcome >= PtxOutcome::not_launched) {
      texts_.push_back(std::move(lines));
    }
  }
  modifiers_.assign(modifiers.begin(), modifiers.end());
}

std::string PtxGenerator::make(std::uint64_t number) {
  random_.seed(number);
  return texts_.empty() || !one_in(4) ? own_kernel() : changed_text();
}

/// A compiler-generated text with some of its instructions changed.
std::string PtxGenerator::changed_text() {
  std::vector<std::string> lines = any_of(texts_);
  lines_ = &lines;
  for (std::size_t changes = 1 + below(3), tries = 0; changes > 0 && tries < 1000; ++tries) {
    line_ = below(lines.size());
    std::string& line = lines[line_];
    PtxStatement statement;
    if (!read_statement(line, statement)) continue;
    change(statement);
    line = statement.text();
    --changes;
  }
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

/// A new kernel of a few unrelated instructions.
std::string PtxGenerator::own_kernel() {
  lines_ = nullptr;
  std::string text(head);
  const std::size_t count = 1 + below(5);
  for (std::size_t i = 0; i < count; ++i) {
    if (i == count / 2) text += "L0:\n";
    PtxStatement statement = any_statement();
    if (!statement.guard.empty()) statement.guard = one_in(2) ? "@%p1" : "@!%p2";
    for (std::size_t changes = one_in(3) ? 1 + below(2) : 0; changes > 0; --changes)
      change(statement);
    text += "  " + statement.text() + "\n";
  }
  return text + "table: .branchtargets L0, L1;\nL1:\n  ret;\n}\n";
}

void PtxGenerator::change(PtxStatement& statement) {
  switch (below(8)) {
    case 0: statement.guard = any_of(std::vector<std::string>{"", "@%p1", "@!%p1", "@%r0"}); return;
    case 1:
    case 2: return change_mnemonic(statement.mnemonic);
    case 3: statement.operands = any_statement().operands; return;
    default: return change_operands(statement.operands);
  }
}

void PtxGenerator::change_mnemonic(std::vector<std::string>& mnemonic) {
  if (mnemonic.size() < 2 || one_in(8)) {
    mnemonic.push_back(any_of(modifiers_));
    return;
  }
  const auto at = mnemonic.begin() + 1 + static_cast<std::ptrdiff_t>(below(mnemonic.size() - 1));
  switch (below(4)) {
    case 0: mnemonic.erase(at); return;
    case 1: mnemonic.insert(at, *at); return;
    case 2: std::swap(*at, mnemonic[1 + below(mnemonic.size() - 1)]); return;
    default: *at = any_of(modifiers_);
  }
}

void PtxGenerator::change_operands(std::vector<std::string>& operands) {
  if (operands.empty() || one_in(8)) {
    operands.push_back(any_operand());
    return;
  }
  std::string& operand = operands[below(operands.size())];
  switch (below(5)) {
    case 0: operands.erase(operands.begin() + (&operand - operands.data())); return;
    case 1: operands.push_back(operand); return;
    case 2:
      std::swap(operand, any_of(operands) == operand ? operands.front() : operands.back());
      return;
    default: operand = any_operand();
  }
}

/// An instruction that could replace the current one: its names are declared in the same text.
PtxStatement PtxGenerator::any_statement() {
  PtxStatement statement;
  for (int tries = 0; lines_ != nullptr && tries < 100; ++tries) {
    const std::size_t first = line_ - std::min(line_, std::size_t{100});
    const std::size_t last = std::min(line_ + 100, lines_->size());
    if (read_statement((*lines_)[first + below(last - first)], statement)) return statement;
  }
  statement = any_of(statements_);
  for (std::string& operand : statement.operands) operand = at_home(operand);
  return statement;
}

std::string PtxGenerator::any_operand() {
  if (lines_ == nullptr || one_in(4)) return any_of(plain_operands());
  const PtxStatement statement = any_statement();
  return statement.operands.empty() ? "0" : any_of(statement.operands);
}

/// The operand with registers and names that a newly generated kernel declares.
std::string PtxGenerator::at_home(std::string_view operand) {
  static const std::set<std::string, std::less<>> files = {"%p", "%rs", "%r", "%rd", "%f", "%fd"};
  static const std::vector<std::string> names = {"in_shared", "in_global", "in_local", "pointer",
                                                 "passed"};
  std::string result;
  for (std::size_t i = 0; i < operand.size();) {
    const bool percent = operand[i] == '%';
    if (!percent &&
        (!is_word(operand[i]) || std::isdigit(static_cast<unsigned char>(operand[i])) != 0)) {
      // A whole number.
      do {
        result += operand[i++];
      } while (i < operand.size() && is_word(operand[i]) && is_word(operand[i - 1]));
      continue;
    }
    std::size_t end = i + 1;
    while (end < operand.size() && (is_word(operand[end]) || (percent && operand[end] == '.')))
      ++end;
    const std::string word(operand.substr(i, end - i));
    i = end;
    const std::size_t letters = std::min(word.find_first_of("0123456789"), word.size());
    const std::string file = word.substr(0, letters);
    const bool numbered =
        letters < word.size() && word.find_first_not_of("0123456789", letters) == std::string::npos;
    if (!percent && i < operand.size() && operand[i] == '.') i += 2;  // the .x of a vector
    if (percent && numbered && files.contains(file)) {
      result += file + std::to_string(below(file == "%p" ? 8 : 12));
    } else if (percent && numbered) {
      result += file.starts_with("%h") ? "%rs2" : "%r6";
    } else {
      const bool label = word.starts_with("$") || word.starts_with("BB");
      const bool special = percent && std::islower(static_cast<unsigned char>(word[1])) != 0;
      result += percent       ? special ? word : "%rd0"
                : word == "_" ? word
                : label       ? "L" + std::to_string(below(2))
                              : any_of(names);
    }
  }
  return result;
}

}  // namespace rung::vgpu
