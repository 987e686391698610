#include "emu/reports/suppressions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace rung::emu {
namespace {

constexpr std::string_view unnamed = "<insert_a_suppression_name_here>";

/// True if the whole text matches; only * and ? are special.
bool matches(std::string_view pattern, std::string_view text) {
  std::size_t at = 0, in_text = 0;
  std::size_t star = pattern.npos, after_star = 0;  // where the last * is, and what it has taken
  while (in_text < text.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      after_star = in_text;
    } else if (at < pattern.size() && (pattern[at] == '?' || pattern[at] == text[in_text])) {
      ++at;
      ++in_text;
    } else if (star != pattern.npos) {
      at = star + 1;
      in_text = ++after_star;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == pattern.npos;
}

std::string_view trimmed(std::string_view line) {
  constexpr std::string_view blank = " \t\r";
  const std::size_t begin = line.find_first_not_of(blank);
  if (begin == line.npos) return {};
  return line.substr(begin, line.find_last_not_of(blank) + 1 - begin);
}

/// The lines of a text that are neither empty nor comments, with their numbers.
class Lines {
 public:
  Lines(std::string_view text, std::string file) : rest_(text), file_(std::move(file)) {}

  /// False at the end of the text.
  bool next() {
    while (!rest_.empty()) {
      const std::size_t stop = std::min(rest_.find('\n'), rest_.size());
      line_ = trimmed(rest_.substr(0, stop));
      rest_.remove_prefix(std::min(stop + 1, rest_.size()));
      ++number_;
      if (!line_.empty() && line_[0] != '#') return true;
    }
    return false;
  }
  void expect_next(const char* what) {
    if (!next()) throw error("the end of the file", what);
  }
  std::string_view line() const { return line_; }
  std::invalid_argument error(const std::string& found, const char* expected) const {
    return std::invalid_argument(
        fmt::format("{}:{}: {}: expected {}", file_, number_, found, expected));
  }
  std::invalid_argument error(const char* expected) const {
    return error(fmt::format("'{}'", line_), expected);
  }

 private:
  std::string_view rest_, line_;
  std::string file_;
  int number_ = 0;
};

/// The rest of the line, if it begins so.
bool take(std::string_view line, std::string_view prefix, std::string& rest) {
  if (!line.starts_with(prefix) || line.size() == prefix.size()) return false;
  rest = line.substr(prefix.size());
  return true;
}

Suppression parse_entry(Lines& lines) {
  Suppression entry;
  lines.expect_next("a name");
  if (lines.line() == "}") throw lines.error("a name");
  entry.name = lines.line();
  lines.expect_next("rung:KIND");
  if (!take(lines.line(), "rung:", entry.kind)) throw lines.error("rung:KIND");
  for (;;) {
    lines.expect_next("}");
    if (lines.line() == "}") return entry;
    std::string source;
    if (take(lines.line(), "src:", source)) {
      if (entry.sources.size() == 2) throw lines.error("at most two lines of src:");
      entry.sources.push_back(source);
    } else if (!entry.kernel.empty() || !take(lines.line(), "fun:", entry.kernel)) {
      throw lines.error("fun:KERNEL once, src:FILE:LINE, or }");
    }
  }
}

/// "race.cu:5"; empty if unknown.
std::string source_of(const Json& party) {
  return party.is_null() ? std::string() : party.value("source", std::string());
}

/// A pattern on one line that the source matches.
std::string pattern_of(std::string source) {
  std::replace(source.begin(), source.end(), '\n', '?');
  return source;
}

/// A pattern of a file alone stands for all its lines.
bool matches_source(const std::string& pattern, const std::string& source) {
  if (pattern.find(':') != pattern.npos) return matches(pattern, source);
  return matches(pattern, source.substr(0, source.rfind(':')));
}

bool match_in_order(const std::vector<std::string>& patterns, const std::string& first,
                    const std::string& other) {
  if (!patterns.empty() && !matches_source(patterns[0], first)) return false;
  return patterns.size() < 2 || matches_source(patterns[1], other);
}

}  // namespace

std::vector<Suppression> parse_suppressions(std::string_view text, const std::string& file) {
  std::vector<Suppression> suppressions;
  for (Lines lines(text, file); lines.next();) {
    if (lines.line() != "{") throw lines.error("{");
    suppressions.push_back(parse_entry(lines));
  }
  return suppressions;
}

std::vector<Suppression> read_suppressions(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  if (!file) throw std::invalid_argument(fmt::format("{}: {}", path, std::strerror(errno)));
  return parse_suppressions(text, path);
}

bool matches(const Suppression& suppression, const Report& report) {
  if (!matches(suppression.kind, report.rule())) return false;
  if (!suppression.kernel.empty() && !matches(suppression.kernel, report.kernel)) return false;
  const std::string first = source_of(report.first), other = source_of(report.other);
  return match_in_order(suppression.sources, first, other) ||
         (!report.other.is_null() && match_in_order(suppression.sources, other, first));
}

void suppress(Reports& reports, const std::vector<Suppression>& suppressions) {
  for (Report& report : reports.all()) {
    const auto found = std::find_if(suppressions.begin(), suppressions.end(),
                                    [&](const auto& entry) { return matches(entry, report); });
    if (found == suppressions.end()) continue;
    report.suppressed_by = found->name;
    report.fails = false;
  }
}

std::string suppression_for(const Report& report) {
  std::string entry = fmt::format("{{\n   {}\n   rung:{}\n", unnamed, report.rule());
  if (!report.kernel.empty()) entry += fmt::format("   fun:{}\n", report.kernel);
  const std::string first = source_of(report.first), other = source_of(report.other);
  if (!first.empty()) entry += fmt::format("   src:{}\n", pattern_of(first));
  if (!first.empty() && !other.empty()) entry += fmt::format("   src:{}\n", pattern_of(other));
  return entry + "}\n";
}

}  // namespace rung::emu
