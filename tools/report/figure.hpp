#pragma once
// A picture with a table of its data, for accessibility and exact values.

#include <optional>
#include <string>
#include <vector>

#include "tools/report/svg/picture.hpp"

namespace rung {

/// The text of a cell, and its number if it shows one.
struct Cell {
  Cell(std::string shown, std::optional<double> number = std::nullopt)
      : text(std::move(shown)), value(number) {}
  Cell(const char* shown) : text(shown) {}

  std::string text;
  std::optional<double> value;
  std::string link;  // to another page; empty if none
};

struct DataTable {
  std::vector<std::string> headings;
  std::vector<std::vector<Cell>> rows;  // the first cell of a row is its heading
};

struct Figure {
  std::string id;     // unique within a page
  std::string title;  // short
  std::string note;   // how to read it
  svg::Picture picture;
  DataTable table;
};

}  // namespace rung
