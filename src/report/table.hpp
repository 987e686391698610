#pragma once
// Text tables for a terminal of 80 columns.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rung {

inline constexpr std::size_t text_width = 80;

/// Columns separated by two spaces: the first flush left, the others flush right. Where lines would be
/// too long, by one space, and the first cells are cut.
class Table {
 public:
  explicit Table(std::vector<std::string> headings);

  void add_row(std::vector<std::string> cells);
  /// A first cell, followed by text instead of the other columns, cut to fit.
  void add_note(std::string first, std::string note);

  std::string str() const;

 private:
  struct Row {
    std::vector<std::string> cells;
    bool is_note;
  };

  std::vector<Row> rows_;
};

/// Wraps a text to lines of at most text_width characters, each indented.
std::string wrap(const std::string& text, std::size_t indent);

/// Cuts the text to `width` characters, with "..." at the end if anything is lost.
std::string cut(std::string text, std::size_t width);

/// Three significant digits with a unit: "1.23 ms".
std::string format_seconds(double seconds);
/// "1,048,576".
std::string format_count(std::uint64_t count);
/// At least three significant digits, none after the point from 100 on: "0.271", "98.1", "1205".
std::string format_rate(double rate);

}  // namespace rung
