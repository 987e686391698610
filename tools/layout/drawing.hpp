#pragma once
// The grid that tables and pictures of a view share.

#include <string>
#include <vector>

#include "tools/layout/view.hpp"

namespace rung::layout {

/// Cells of equal size, with a heading for each column and row. Empty where nothing is.
struct Grid {
  struct Field {
    std::string text;
    int hue = -1;   // cells of one row, column or group of lanes have one; -1: empty
    int shade = 0;  // 0 to 3
  };
  std::string corner;
  std::vector<std::string> columns;
  std::vector<std::string> rows;
  std::vector<std::vector<Field>> fields;  // by row
};

Grid grid_of(const View& view);

}  // namespace rung::layout
