#include "tools/kernel_file/rung_form.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "core/dtype.hpp"

namespace rung {
namespace {

constexpr std::string_view begin_of_line = "\nRUNG_";

std::string trimmed(std::string_view text) {
  const auto is_space = [](unsigned char c) { return std::isspace(c) != 0; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return std::string(text);
}

/// Splits at commas outside brackets.
std::vector<std::string> split_arguments(std::string_view text) {
  std::vector<std::string> found;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i == text.size() ? ',' : text[i];
    if (c == '(' || c == '{') ++depth;
    if (c == ')' || c == '}') --depth;
    if (c != ',' || depth > 0) continue;
    found.push_back(trimmed(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  return found;
}

struct Line {
  std::size_t begin, end;  // of the statement in the text
};

std::optional<Line> find_line(std::string_view text) {
  for (std::size_t at = 0; (at = text.find(begin_of_line, at)) != text.npos; ++at) {
    const std::string_view rest = text.substr(at + 1);
    if (!rest.starts_with("RUNG_CUDA_") && !rest.starts_with("RUNG_METAL_")) continue;
    int depth = 0;
    for (std::size_t i = rest.find('('); i < rest.size(); ++i) {
      if (rest[i] == '(') ++depth;
      if (rest[i] == ')' && --depth == 0) return Line{at + 1, at + 1 + i + 1};
    }
  }
  return std::nullopt;
}

bool continues_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

void replace_word(std::string& text, std::string_view word, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(word, at)) != text.npos;) {
    const std::size_t end = at + word.size();
    const bool is_whole = (at == 0 || !continues_word(text[at - 1])) &&
                          (end == text.size() || !continues_word(text[end]));
    if (is_whole) text.replace(at, word.size(), by);
    at += is_whole ? by.size() : word.size();
  }
}

/// Replaces the first occurrence. `by` must have the same number of lines.
void replace(std::string& text, std::string_view what, std::string_view by) {
  if (const std::size_t at = text.find(what); at != text.npos) text.replace(at, what.size(), by);
}

constexpr std::string_view types_line = "template <class In, class Out>\n";

/// The declaration as constants, on the same number of lines.
std::string constants_of(const RungForm& form) {
  const auto constant = [](const char* name, const std::string& value) {
    return value == name ? "" : fmt::format("constant constexpr int {} = {};", name, value);
  };
  const std::vector<std::string>& given = form.arguments;
  if (form.is_gemm()) {
    const auto threads = split_arguments(std::string_view(given[3]).substr(1, given[3].size() - 2));
    if (threads.size() == 1) return constant("THREADS", threads[0]);
    return constant("THREADS_X", threads[0]) + " " + constant("THREADS_Y", threads[1]);
  }
  std::string text = constant("THREADS", given[2]);
  if (given[3] != given[2]) text += constant("TERMS", given[3]);
  if (form.macro == "RUNG_METAL_DOT_IN_TURNS") text += constant("THREADGROUPS", given[4]);
  return text;
}

std::string_view metal_type(Dtype dtype, bool is_result) {
  if (dtype == Dtype::i32) return "uint";
  if (is_result || dtype == Dtype::f32) return "float";
  return dtype == Dtype::bf16 ? "bfloat" : "half";
}

}  // namespace

std::optional<RungForm> read_rung_form(std::string_view text) {
  const auto line = find_line(text);
  if (!line) return std::nullopt;
  const std::string_view statement = text.substr(line->begin, line->end - line->begin);
  const std::size_t open = statement.find('(');
  return RungForm{std::string(statement.substr(0, open)),
                  split_arguments(statement.substr(open + 1, statement.size() - open - 2))};
}

std::string why_not(const RungForm& form) {
  if (form.macro.ends_with("_TILES")) return "has several tile sizes";
  if (form.macro.ends_with("_MULTIPLES")) return "needs sizes that are multiples of its tile";
  if (form.macro.ends_with("_PASSES")) return "needs several launches";
  if (form.macro == "RUNG_METAL_DOT" && form.arguments.back() != "Finish::zeroed") {
    return "leaves sums to the CPU";
  }
  constexpr std::array<std::string_view, 7> known = {
      "RUNG_CUDA_GEMM", "RUNG_CUDA_DOT",          "RUNG_CUDA_DOT_AND_SUM",  "RUNG_METAL_GEMM",
      "RUNG_METAL_DOT", "RUNG_METAL_GEMM_FLOATS", "RUNG_METAL_DOT_IN_TURNS"};
  const std::size_t least = form.is_metal()           ? (form.is_gemm() ? 4 : 5)
                            : form.has_apart_number() ? 4
                                                      : 3;
  if (std::ranges::find(known, form.macro) == known.end() || form.arguments.size() < least) {
    return form.macro + " is no form that a file can have";
  }
  return "";
}

std::vector<Dtype> dtypes_of(const RungForm& form) {
  if (form.macro == "RUNG_METAL_GEMM_FLOATS") return {Dtype::f32, Dtype::bf16, Dtype::f16};
  if (form.is_metal()) return {Dtype::f32, Dtype::i32, Dtype::bf16, Dtype::f16};
  std::vector<Dtype> found;
  for (const std::string& argument : form.arguments) {
    if (const auto dtype = parse_dtype(argument)) found.push_back(*dtype);
  }
  return found;
}

std::string plain_metal(std::string_view text, const RungForm& form, const std::string& kernel,
                        Dtype dtype) {
  std::string plain(text);
  const Line line = *find_line(text);
  const std::string_view statement = text.substr(line.begin, line.end - line.begin);
  const auto ends = static_cast<std::size_t>(std::ranges::count(statement, '\n'));
  plain.replace(line.begin, statement.size(), constants_of(form) + std::string(ends, '\n'));
  replace(plain, "\nnamespace rung {\n", "\nusing namespace rung;\n");
  replace(plain, "\n}  // namespace rung\n", "\n\n");
  replace(plain, types_line, "\n");
  if (const std::size_t at = plain.find("\nkernel void "); at != plain.npos) {
    const std::size_t begin = at + std::string_view("\nkernel void ").size();
    plain.replace(begin, plain.find('(', begin) - begin, kernel);
  }
  replace_word(plain, "In", metal_type(dtype, false));
  replace_word(plain, "Out", metal_type(dtype, true));
  return plain;
}

}  // namespace rung
