// Passes over directives and what belongs to the preprocessor.

#include <algorithm>
#include <array>

#include "emu/compile/source/characters.hpp"
#include "emu/compile/source/passes.hpp"

namespace rung::emu {
namespace {

/// The line of the text up to `at`.
std::string_view line_before(std::string_view text, std::size_t at) {
  const std::size_t begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
  return text.substr(begin, at - begin);
}

bool is_directive(std::string_view line) {
  return line.substr(after_spaces(line, 0)).starts_with('#');
}

/// Tokens that ask whether clang, not nvcc, compiles the CUDA, as CUTLASS does.
constexpr std::array<std::string_view, 10> clang_compiles_cuda = {
    "defined", "(", "__clang__", ")", "&", "&", "defined", "(", "__CUDA__", ")"};

bool asks_for_clang(const Tokens& tokens, std::size_t at) {
  if (tokens.size() - at < clang_compiles_cuda.size()) return false;
  const auto first = tokens.begin() + static_cast<std::ptrdiff_t>(at);
  return std::equal(clang_compiles_cuda.begin(), clang_compiles_cuda.end(), first,
                    [](std::string_view text, const Token& token) { return text == token.text; });
}

bool is_define(std::string_view line) {
  if (!is_directive(line)) return false;
  return line.substr(after_spaces(line, line.find('#') + 1)).starts_with("define");
}

}  // namespace

Edits define_nvcc(const SourceText& source) {
  Edits edits;
  const Tokens& tokens = source.tokens();
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    if (asks_for_clang(tokens, at)) {
      const std::size_t end = tokens[at + clang_compiles_cuda.size() - 1].end();
      edits.push_back({tokens[at].at, end - tokens[at].at, "0"});
      at += clang_compiles_cuda.size() - 1;
    } else if (tokens[at].text == "__clang__") {
      return {};
    } else if (tokens[at].text == "__NVCC__") {
      edits.push_back({tokens[at].at, tokens[at].text.size(), "__CUDACC__"});
    }
  }
  return edits;
}

Edits include_atomics(const SourceText& source) {
  constexpr std::string_view header = "<cooperative_groups.h>";
  constexpr std::array<std::string_view, 3> names = {"cuda::memory_order", "cuda::atomic",
                                                     "cuda::thread_scope"};
  const std::string& text = source.text();
  const auto has = [&](std::string_view part) { return text.find(part) != text.npos; };
  const std::size_t at = text.find(header);
  if (at == text.npos || has("<cuda/atomic>") || std::none_of(names.begin(), names.end(), has)) {
    return {};
  }
  return {{at, header.size(), "<rung_emu/groups_and_atomics.h>"}};
}

Edits define_pragmas(const SourceText& source) {
  const Tokens& tokens = source.tokens();
  const std::string& text = source.text();
  Edits edits;
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    if (!are_next(tokens, at, {"#", "pragma"}) || !is_define(line_before(text, tokens[at].at))) {
      continue;
    }
    std::size_t end = std::min(text.find('\n', tokens[at].at), text.size());
    end = std::min(end, text.find("//", tokens[at].at));
    while (is_space(text[end - 1]) || text[end - 1] == '\\') --end;
    const std::size_t begin = std::min(after_spaces(text, tokens[at + 1].end()), end);
    std::string pragma = "_Pragma(\"";
    for (const char c : text.substr(begin, end - begin)) {
      if (c == '"' || c == '\\') pragma += '\\';
      pragma += c;
    }
    edits.push_back({tokens[at].at, end - tokens[at].at, pragma + "\")"});
  }
  return edits;
}

Edits drop_stray_backslashes(const SourceText& source) {
  const std::string_view text = source.text();
  Edits edits;
  for (const Token& token : source.tokens()) {
    if (token.text != "\\" || is_directive(line_before(text, token.at))) continue;
    const std::size_t next = text.find_first_not_of(" \t", token.end());
    if (next != text.npos && text.substr(next).starts_with("//"))
      edits.push_back({token.at, 1, " "});
  }
  return edits;
}

}  // namespace rung::emu
