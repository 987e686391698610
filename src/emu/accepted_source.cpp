#include "emu/accepted_source.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "emu/characters.hpp"
#include "emu/device_launches.hpp"
#include "emu/nvcc_declarations.hpp"
#include "emu/own_warp_size.hpp"
#include "emu/variable_arrays.hpp"
#include "emu/vector_casts.hpp"

namespace rung::emu {
namespace {

/// Where `k<< <` or `>> >(`, or `k< <<`, ends that begins at `at`; `at` if none does.
std::size_t end_of_split_brackets(std::string_view text, std::size_t at) {
  const char bracket = text[at];
  std::size_t end = at;
  int brackets = 0, gaps = 0;
  while (brackets < 3 && end < text.size() && text[end] == bracket) {
    ++end;
    if (++brackets == 3) break;
    const std::size_t next = behind_spaces(text, end);
    gaps += next > end ? 1 : 0;
    end = next;
  }
  if (brackets < 3 || gaps != 1) return at;
  if (bracket == '<') return end;
  // Three that close lists of template arguments may be split elsewhere.
  const bool is_launch = text.substr(at).starts_with(">>");
  const std::size_t next = behind_spaces(text, end);
  return is_launch && next < text.size() && text[next] == '(' ? end : at;
}

// PTX ISA, "Special Registers"; all that begin with one of these.
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

/// Whether the statement that begins with this parenthesis declares registers of its own, which is
/// PTX: their names may follow a % as well.
bool declares_registers(std::string_view text, std::size_t open) {
  return text.substr(open, text.find(';', behind_parentheses(text, open)) - open).find(".reg") !=
         text.npos;
}

/// The parenthesis behind `asm`, `__asm` or `__asm__` at `at`; npos if that is no such statement.
std::size_t assembly_parenthesis(std::string_view text, std::size_t at) {
  const auto behind_word = [&](std::size_t begin) {
    while (begin < text.size() && is_word(text[begin])) ++begin;
    return begin;
  };
  std::size_t begin = at;
  while (begin > 0 && is_word(text[begin - 1])) --begin;
  std::size_t end = behind_word(at);
  const std::string_view word = text.substr(begin, end - begin);
  if (word != "asm" && word != "__asm" && word != "__asm__") return text.npos;
  end = behind_spaces(text, end);
  const std::string_view rest = text.substr(end);
  if (rest.starts_with("volatile") || rest.starts_with("__volatile")) {
    end = behind_spaces(text, behind_word(end));
  }
  return end < text.size() && text[end] == '(' ? end : text.npos;
}

/// Where the word that ends before `at`, and spaces, begins; `at` if there is none.
std::size_t word_before(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end > 0 && is_space(text[end - 1])) --end;
  std::size_t begin = end;
  while (begin > 0 && is_word(text[begin - 1])) --begin;
  return begin == end ? at : begin;
}

/// Where the words `extern`, `static` and those for memories before `at` begin; `at` if there is none
/// for a memory.
std::size_t specifiers_before(std::string_view text, std::size_t at) {
  constexpr std::array<std::string_view, 6> specifiers = {
      "extern", "static", "__shared__", "__device__", "__constant__", "__managed__"};
  std::size_t first = at;
  bool names_memory = false;
  for (std::size_t begin = 0; (begin = word_before(text, first)) != first; first = begin) {
    const auto is_next = [&](std::string_view word) {
      return text.substr(begin).starts_with(word) && !is_word(text[begin + word.size()]);
    };
    if (std::none_of(specifiers.begin(), specifiers.end(), is_next)) break;
    names_memory = names_memory || text.substr(begin).starts_with("__");
  }
  return names_memory ? first : at;
}

bool defines_pragma(std::string_view line) {
  const std::size_t hash = behind_spaces(line, 0);
  if (hash >= line.size() || line[hash] != '#') return false;
  return line.substr(behind_spaces(line, hash + 1)).starts_with("define");
}

}  // namespace

std::string join_launch_brackets(const std::string& text) {
  std::string joined;
  std::size_t rest = 0;
  for (std::size_t at = 0; (at = text.find_first_of("<>", at)) != text.npos;) {
    const std::size_t end = end_of_split_brackets(text, at);
    if (end == at) {
      at = text.find_first_not_of(text[at], at);
      continue;
    }
    joined.append(text, rest, at - rest);
    joined.append(3, text[at]);
    // Lines keep their numbers.
    const auto begin = text.begin() + static_cast<std::ptrdiff_t>(at);
    const auto lines = std::count(begin, text.begin() + static_cast<std::ptrdiff_t>(end), '\n');
    joined.append(static_cast<std::size_t>(lines), '\n');
    rest = at = end;
  }
  return joined.append(text, rest);
}

std::string name_dimensions(const std::string& text) {
  std::string named;
  std::size_t rest = 0;
  for (std::size_t at = 0; (at = text.find("<<<", at)) != text.npos;) {
    int depth = 0, argument = 0;
    bool is_first = true;  // of its argument
    for (at += 3; at < text.size() && text[at] != ';'; ++at) {
      const char c = text[at];
      if (depth == 0 && text.compare(at, 3, ">>>") == 0) break;
      if (depth == 0 && c == ',') {
        ++argument;
        is_first = true;
        continue;
      }
      if (c == '{' && is_first && argument < 2) {
        named.append(text, rest, at - rest).append("dim3");
        rest = at;
      }
      depth += c == '(' || c == '{' || c == '[' ? 1 : c == ')' || c == '}' || c == ']' ? -1 : 0;
      is_first = is_first && is_space(c);
    }
  }
  return named.append(text, rest);
}

std::string escape_special_registers(const std::string& text) {
  std::string escaped;
  std::size_t rest = 0;
  for (std::size_t at = 0; (at = text.find("asm", at)) != text.npos;) {
    const std::size_t open = assembly_parenthesis(text, at);
    at += 3;
    if (open == text.npos) continue;
    const bool has_own = declares_registers(text, open);
    const auto is_register = [&](std::string_view name) {
      const bool is_name =
          !name.empty() && (std::isalpha(static_cast<unsigned char>(name[0])) != 0);
      return (has_own && is_name) || is_special_register(name);
    };
    int depth = 0;
    bool in_text = false;
    for (at = open; at < text.size(); ++at) {
      const char c = text[at];
      if (c == '"') in_text = !in_text;
      if (!in_text) depth += c == '(' ? 1 : c == ')' ? -1 : 0;
      if (depth == 0) break;
      if (in_text && c == '\\') ++at;
      if (!in_text || c != '%') continue;
      if (text[at + 1] == '%') {
        ++at;
      } else if (is_register(std::string_view(text).substr(at + 1))) {
        escaped.append(text, rest, at - rest).append("%");
        rest = at;
      }
    }
  }
  return escaped.append(text, rest);
}

std::string define_pragmas(const std::string& text) {
  constexpr std::string_view directive = "#pragma";
  std::string defined;
  std::size_t rest = 0;
  for (std::size_t at = 0; (at = text.find(directive, at)) != text.npos; at += directive.size()) {
    const std::size_t line = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
    if (!defines_pragma(std::string_view(text).substr(line, at - line))) continue;
    std::size_t end = std::min(text.find('\n', at), text.size());
    end = std::min(end, text.find("//", at));
    while (is_space(text[end - 1]) || text[end - 1] == '\\') --end;
    const std::size_t begin = std::min(behind_spaces(text, at + directive.size()), end);
    defined.append(text, rest, at - rest).append("_Pragma(\"");
    for (const char c : text.substr(begin, end - begin)) {
      if (c == '"' || c == '\\') defined += '\\';
      defined += c;
    }
    defined += "\")";
    rest = end;
  }
  return defined.append(text, rest);
}

std::string drop_stray_backslashes(const std::string& text) {
  std::string result = text;
  for (std::size_t at = 0; (at = result.find('\\', at)) != text.npos; ++at) {
    const std::size_t next = result.find_first_not_of(" \t", at + 1);
    if (next == text.npos || result.compare(next, 2, "//") != 0) continue;
    const std::size_t line = result.rfind('\n', at) + 1;
    const auto before = std::string_view(result).substr(line, at - line);
    const bool in_text = std::count(before.begin(), before.end(), '"') % 2 != 0;
    const bool is_directive = before.substr(behind_spaces(before, 0)).starts_with('#');
    if (!in_text && !is_directive) result[at] = ' ';
  }
  return result;
}

std::string lead_with_alignas(const std::string& text) {
  constexpr std::string_view name = "alignas";
  std::string result;
  std::size_t rest = 0;
  for (std::size_t at = 0; (at = text.find(name, at)) != text.npos;) {
    const std::size_t clause = at;
    at += name.size();
    const std::size_t open = behind_spaces(text, at);
    if (open >= text.size() || text[open] != '(' || (clause > 0 && is_word(text[clause - 1]))) {
      continue;
    }
    const std::size_t end = behind_parentheses(text, open);
    if (end == text.npos) break;
    const std::size_t first = specifiers_before(text, clause);
    if (first == clause || first < rest) continue;
    result.append(text, rest, first - rest).append(text, clause, end - clause).append(" ");
    result.append(text, first, clause - first);
    rest = at = end;
  }
  return result.append(text, rest);
}

std::string know_compiler(const std::string& text) {
  constexpr std::string_view asked = "__NVCC__", known = "__CUDACC__";
  if (text.find("__clang__") != text.npos) return text;
  std::string result = text;
  for (std::size_t at = 0; (at = result.find(asked, at)) != text.npos; at += known.size()) {
    result.replace(at, asked.size(), known);
  }
  return result;
}

std::string drop_barrier_destructor(const std::string& text) {
  constexpr std::string_view destructor = "~barrier()";
  std::string result = text;
  const std::size_t at = result.find(destructor);
  if (at != text.npos) result.replace(at, destructor.size(), "void rung_emu_not_called()");
  return result;
}

std::string accepted_source(const std::string& text, const DeviceLaunches& launches,
                            const std::string& file) {
  const std::string declared =
      lead_with_alignas(zero_variable_arrays(deduce_array_pointers(declare_shared_arrays(
          name_dependent_templates(drop_late_attributes(include_atomics(know_compiler(text))))))));
  return hide_arrays_of_vectors(rename_own_warp_size(rewrite_device_launches(
      escape_special_registers(
          define_pragmas(name_dimensions(join_launch_brackets(drop_stray_backslashes(declared))))),
      launches, file)));
}

}  // namespace rung::emu
