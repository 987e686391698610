#pragma once
// Text tables for a terminal with 80 columns.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rung {

inline constexpr std::size_t text_width = 80;

/// Columns are separated by two spaces: the first is left-aligned, the others right-aligned. If
/// lines are too long, uses one space and truncates the first cells.
class Table {
 public:
  explicit Table(std::vector<std::string> headings);

  void add_row(std::vector<std::string> cells);
  /// A row with a first cell, followed by text instead of the other columns, truncated to fit.
  void add_note(std::string first, std::string note);

  /// False if str() truncates first cells.
  bool has_whole_names() const;
  std::string str() const;

 private:
  struct Row {
    std::vector<std::string> cells;
    bool is_note;
  };

  /// The characters of each column's longest cell.
  std::vector<std::size_t> widths() const;

  std::vector<Row> rows_;
};

/// Wraps a text into lines of at most text_width characters, including the indent.
std::string wrap(const std::string& text, std::size_t indent);

/// Truncates the text to `width` characters, ending in "..." if anything is removed.
std::string cut(std::string text, std::size_t width);

/// Three significant digits with a unit: "1.23 ms".
std::string format_seconds(double seconds);
/// "1,048,576".
std::string format_count(std::uint64_t count);
/// At least three significant digits, and no decimal places from 100 on: "0.271", "98.1", "1205".
std::string format_rate(double rate);

}  // namespace rung
