#include "tools/report/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "tools/report/utf8.hpp"

namespace rung {
namespace {

/// Two spaces between columns, or one if lines would be too long.
std::string blanks_between(const std::vector<std::size_t>& widths) {
  const std::size_t least = std::accumulate(widths.begin(), widths.end(), std::size_t{0});
  return least + 2 * (widths.size() - 1) > text_width ? " " : "  ";
}

/// Less than the width of the longest name if lines would still be too long; names are truncated in
/// this case.
std::size_t first_width(const std::vector<std::size_t>& widths) {
  constexpr std::size_t least = 16;
  const std::size_t all =
      std::accumulate(widths.begin(), widths.end(), std::size_t{0}) + widths.size() - 1;
  if (all <= text_width || widths[0] <= least) return widths[0];
  return std::max(least, widths[0] - std::min(widths[0], all - text_width));
}

}  // namespace

Table::Table(std::vector<std::string> headings) { add_row(std::move(headings)); }

void Table::add_row(std::vector<std::string> cells) { rows_.push_back({std::move(cells), false}); }

void Table::add_note(std::string first, std::string note) {
  rows_.push_back({{std::move(first), std::move(note)}, true});
}

std::vector<std::size_t> Table::widths() const {
  std::vector<std::size_t> widths(rows_.front().cells.size(), 0);
  for (const Row& row : rows_) {
    const std::size_t columns = row.is_note ? 1 : row.cells.size();
    for (std::size_t i = 0; i < columns; ++i) {
      widths[i] = std::max(widths[i], count_characters(row.cells[i]));
    }
  }
  return widths;
}

bool Table::has_whole_names() const {
  const std::vector<std::size_t> all = widths();
  return first_width(all) == all[0];
}

std::string Table::str() const {
  std::vector<std::size_t> widths = this->widths();
  const std::string blanks = blanks_between(widths);
  widths[0] = first_width(widths);
  std::string text;
  for (const Row& row : rows_) {
    std::string line = fmt::format("{:<{}}", cut(row.cells[0], widths[0]), widths[0]);
    if (row.is_note) {
      line = cut(line + "  " + row.cells[1], text_width);
    } else {
      for (std::size_t i = 1; i < row.cells.size(); ++i) {
        line += fmt::format("{}{:>{}}", blanks, row.cells[i], widths[i]);
      }
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string wrap(const std::string& text, std::size_t indent) {
  const std::string margin(indent, ' ');
  std::string lines;
  std::string line;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t stop = std::min(text.find(' ', start), text.size());
    const std::string word = text.substr(start, stop - start);
    if (!line.empty() && indent + line.size() + 1 + word.size() > text_width) {
      lines += margin + line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
    start = stop + 1;
  }
  return lines + margin + line + "\n";
}

std::string cut(std::string text, std::size_t width) {
  if (count_characters(text) <= width) return text;
  return std::string(first_characters(text, width - 3)) + "...";
}

std::string format_rate(double rate) {
  return fmt::format("{:.{}f}", rate, rate >= 100 ? 0 : rate >= 10 ? 1 : rate >= 1 ? 2 : 3);
}

std::string format_count(std::uint64_t count) {
  std::string text = std::to_string(count);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ',');
  return text;
}

std::string format_seconds(double seconds) {
  if (seconds >= 1) return format_rate(seconds) + " s ";
  if (seconds >= 1e-3) return format_rate(seconds * 1e3) + " ms";
  if (seconds >= 1e-6) return format_rate(seconds * 1e6) + " us";
  return format_rate(seconds * 1e9) + " ns";
}

}  // namespace rung
