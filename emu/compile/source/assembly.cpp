// The pass over inline PTX.

#include <algorithm>
#include <array>
#include <cctype>

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

/// Doubles the % before each register in a string. The names of registers that the statement declares
/// itself begin with a letter; operands are %0 and so on.
void escape(const SourceText& source, const Token& literal, bool declares_registers, Edits& edits) {
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
    if ((declares_registers && is_named) || is_special_register(name))
      edits.push_back({at, 0, "%"});
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
    const bool declares_registers =
        text.substr(begin, statement_end - begin).find(".reg") != text.npos;
    for (at = open; at < end; ++at) {
      if (tokens[at].is_literal && tokens[at].text[0] != '\'') {
        escape(source, tokens[at], declares_registers, edits);
      }
    }
    --at;
  }
  return edits;
}

}  // namespace rung::emu
