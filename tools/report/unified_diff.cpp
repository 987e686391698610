#include "tools/report/unified_diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "tools/report/lines.hpp"

namespace rung {
namespace {

constexpr std::size_t context = 3;

using Lines = std::vector<std::string_view>;

/// A line of the complete comparison: ' ' if in both texts, '-' only in the first, '+' only in the
/// second.
struct Edit {
  char kind;
  std::string_view line;
};

/// Uses a longest common subsequence; [i][j] is its length from (i, j) on. Rungs are short enough
/// for a table of quadratic size.
std::vector<Edit> edits(const Lines& from, const Lines& to) {
  std::vector<std::vector<std::size_t>> common(from.size() + 1,
                                               std::vector<std::size_t>(to.size() + 1, 0));
  for (std::size_t i = from.size(); i-- > 0;) {
    for (std::size_t j = to.size(); j-- > 0;) {
      common[i][j] = from[i] == to[j] ? common[i + 1][j + 1] + 1
                                      : std::max(common[i + 1][j], common[i][j + 1]);
    }
  }
  std::vector<Edit> all;
  std::size_t i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    if (i < from.size() && j < to.size() && from[i] == to[j]) {
      all.push_back({' ', from[i++]});
      ++j;
    } else if (i < from.size() && (j == to.size() || common[i + 1][j] >= common[i][j + 1])) {
      all.push_back({'-', from[i++]});
    } else {
      all.push_back({'+', to[j++]});
    }
  }
  return all;
}

/// The end of the hunk that begins at `at`: followed by equal lines, more than twice the context.
std::size_t end_of_hunk(const std::vector<Edit>& all, std::size_t at) {
  std::size_t last = at;
  for (std::size_t i = at; i < all.size() && i - last <= 2 * context; ++i) {
    if (all[i].kind != ' ') last = i;
  }
  return std::min(all.size(), last + 1 + context);
}

std::string painted(const Edit& edit, bool colour) {
  const std::string line = fmt::format("{}{}", edit.kind, edit.line);
  if (!colour || edit.kind == ' ') return line + "\n";
  return fmt::format("\x1b[{}m{}\x1b[0m\n", edit.kind == '-' ? 31 : 32, line);
}

/// "12,7", as in diff: omits the length if it is 1; for an empty range, the number is that of the
/// previous line.
std::string range(std::size_t first, std::size_t count) {
  if (count == 1) return std::to_string(first);
  return fmt::format("{},{}", count == 0 ? first - 1 : first, count);
}

}  // namespace

std::string unified_diff(const NamedText& from, const NamedText& to, bool colour) {
  const std::vector<Edit> all = edits(lines_of(from.text), lines_of(to.text));
  std::string text;
  std::size_t from_line = 1, to_line = 1;
  std::size_t done = 0;
  const auto pass = [&](std::size_t until) {
    for (; done < until; ++done) {
      from_line += all[done].kind != '+';
      to_line += all[done].kind != '-';
    }
  };
  while (true) {
    std::size_t change = done;
    while (change < all.size() && all[change].kind == ' ') ++change;
    if (change == all.size()) break;
    pass(std::max(done, change - std::min(change, context)));
    const std::size_t first = done, from_first = from_line, to_first = to_line;
    pass(end_of_hunk(all, change));
    if (text.empty()) text = fmt::format("--- {}\n+++ {}\n", from.name, to.name);
    text += fmt::format("@@ -{} +{} @@\n", range(from_first, from_line - from_first),
                        range(to_first, to_line - to_first));
    for (std::size_t i = first; i < done; ++i) text += painted(all[i], colour);
  }
  return text;
}

}  // namespace rung
