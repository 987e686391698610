// The pass over inline PTX.

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <limits>

#include "emu/compile/source/passes.hpp"

namespace rung::emu {
namespace {

// PTX ISA, "Special Registers": names begin with one of these.
constexpr std::array special_registers = {"tid",
                                          "ntid",
                                          "laneid",
                                          "warpid",
                                          "nwarpid",
                                          "ctaid",
                                          "nctaid",
                                          "smid",
                                          "nsmid",
                                          "gridid",
                                          "clock",
                                          "pm",
                                          "globaltimer",
                                          "lanemask",
                                          "envreg",
                                          "cluster",
                                          "ncluster",
                                          "dynamic_smem_size",
                                          "total_smem_size",
                                          "is_explicit_cluster"};

bool is_special_register(std::string_view name) {
  return std::any_of(special_registers.begin(), special_registers.end(),
                     [&](const char* start) { return name.starts_with(start); });
}

/// The parenthesis after `asm`, `__asm` or `__asm__` at `at`; `at` for other tokens.
std::size_t assembly_parenthesis(const Tokens& tokens, std::size_t at) {
  const std::string_view word = tokens[at].text;
  if (word != "asm" && word != "__asm" && word != "__asm__") return at;
  std::size_t open = at + 1;
  const auto starts = [&](std::string_view start) {
    return open < tokens.size() && tokens[open].text.starts_with(start);
  };
  if (starts("volatile") || starts("__volatile")) ++open;
  return starts("(") ? open : at;
}

/// Operands that are names of strings, "C"(name), have the constraint of an address, which clang knows;
/// paste_string_operands() puts the string's text in their place.
constexpr std::string_view constraint_of_strings = "\"C\"";

/// The number of operands of a statement, whose parenthesis opens at `open`; the largest number if a macro may hide some.
/// Adds the commas between operands that nvcc does not miss, and replaces the constraints that clang does not know.
int count_operands(const Tokens& tokens, std::size_t open, std::size_t end, Edits& edits) {
  int depth = 0, count = 0;
  std::size_t section = 0;  // 0: the text, 1: outputs, 2: inputs, 3: clobbers
  bool is_first = false;    // token of an operand
  for (std::size_t at = open; at < end; ++at) {
    const std::string_view text = tokens[at].text;
    if (depth == 1 && (text == ":" || text == "::")) {
      section += text.size();
      is_first = true;
      continue;
    }
    const bool has_operands = section == 1 || section == 2;
    if (depth == 1 && has_operands && tokens[at].is_literal && tokens[at - 1].text == ")") {
      edits.push_back({tokens[at - 1].end(), 0, ","});
      is_first = true;
    }
    if (depth == 1 && has_operands && text == constraint_of_strings) {
      edits.push_back({tokens[at].at + 1, 1, "i"});
    }
    if (depth == 1 && is_first && has_operands && text != ")") {
      if (!tokens[at].is_literal && text != "[") return std::numeric_limits<int>::max();
      ++count;
    }
    is_first = depth == 1 && text == ",";
    if (text == "(" || text == "[" || text == "{") ++depth;
    if (text == ")" || text == "]" || text == "}") --depth;
  }
  return section == 0 ? std::numeric_limits<int>::max() : count;  // 0: % means itself
}

/// The % signs of a statement's strings that are doubled.
struct Escapes {
  bool declares_registers;  // its own, whose names begin with a letter
  int operands;             // %0 and so on
};

/// True for the number of an operand that does not exist. nvcc reports it only where a template is instantiated; with
/// its % doubled, the text of PTX then has an unknown register.
bool is_missing_operand(std::string_view name, int operands) {
  int number = -1;
  std::from_chars(name.data(), name.data() + name.size(), number);
  return number >= operands;
}

/// Doubles the % before each register and missing operand in a string.
void escape(const SourceText& source, const Token& literal, const Escapes& escapes, Edits& edits) {
  const std::string_view text = source.text();
  for (std::size_t at = literal.at; at < literal.end(); ++at) {
    if (text[at] == '\\') ++at;
    if (text[at] != '%') continue;
    const std::string_view name = text.substr(at + 1);
    if (name.starts_with('%')) {
      ++at;
      continue;
    }
    const bool is_named = !name.empty() && std::isalpha(static_cast<unsigned char>(name[0])) != 0;
    const bool is_register = (escapes.declares_registers && is_named) || is_special_register(name);
    if (is_register || is_missing_operand(name, escapes.operands)) edits.push_back({at, 0, "%"});
  }
}

}  // namespace

Edits escape_special_registers(const SourceText& source) {
  const Tokens& tokens = source.tokens();
  const std::string_view text = source.text();
  Edits edits;
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    const std::size_t open = assembly_parenthesis(tokens, at);
    if (open == at) continue;
    const std::size_t end = after_parentheses(tokens, open).value_or(tokens.size());
    const std::size_t begin = tokens[open].at, statement_end = text.find(';', tokens[end - 1].at);
    const Escapes escapes = {text.substr(begin, statement_end - begin).find(".reg") != text.npos,
                             count_operands(tokens, open, end, edits)};
    for (at = open; at < end; ++at) {
      if (tokens[at].is_literal && tokens[at].text[0] != '\'') {
        escape(source, tokens[at], escapes, edits);
      }
    }
    --at;
  }
  return edits;
}

}  // namespace rung::emu
