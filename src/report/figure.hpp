#pragma once
// A picture with the same figures as a table, for who cannot see it or wants them exactly.

#include <optional>
#include <string>
#include <vector>

#include "report/svg/picture.hpp"

namespace rung {

/// What a cell shows, and the number behind it where it shows one.
struct Cell {
  Cell(std::string shown, std::optional<double> number = std::nullopt)
      : text(std::move(shown)), value(number) {}
  Cell(const char* shown) : text(shown) {}

  std::string text;
  std::optional<double> value;
};

struct DataTable {
  std::vector<std::string> headings;
  std::vector<std::vector<Cell>> rows;  // the first cell of a row is its heading
};

struct Figure {
  std::string id;     // one of a kind in a page
  std::string title;  // a few words
  std::string note;   // how to read it
  svg::Picture picture;
  DataTable table;
};

}  // namespace rung
