// Views as tables of text and as pictures.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tools/layout/view.hpp"
#include "tools/report/svg/picture.hpp"
#include "tools/report/table.hpp"

namespace rung::layout {
namespace {

constexpr std::uint32_t line_bytes = 128, chunk_bytes = 16;
constexpr int hues = 4, shades = 4;

/// Cells of equal size, with a heading for each column and row.
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

Grid memory_grid(const View& view) {
  Grid grid{"byte", {}, {}, {}};
  for (std::uint32_t chunk = 0; chunk < line_bytes / chunk_bytes; ++chunk) {
    grid.columns.push_back(fmt::format("+{}", chunk * chunk_bytes));
  }
  if (view.cells.empty()) return grid;
  const auto by_address = [](const Cell& a, const Cell& b) { return a.address < b.address; };
  const auto [low, high] = std::ranges::minmax_element(view.cells, by_address);
  const std::uint32_t first = low->address / line_bytes;
  for (std::uint32_t line = first; line <= high->address / line_bytes; ++line) {
    grid.rows.push_back(fmt::format("{}", line * line_bytes));
  }
  grid.fields.assign(grid.rows.size(), std::vector<Grid::Field>(grid.columns.size()));
  const int per_chunk = static_cast<int>(chunk_bytes) * 8 / view.element_bits;
  for (const Cell& cell : view.cells) {
    Grid::Field& field =
        grid.fields[cell.address / line_bytes - first][cell.address % line_bytes / chunk_bytes];
    const int part = cell.at[view.along] / per_chunk;
    field = {fmt::format("{}", fmt::join(cell.at, ",")), part % (2 * hues) / 2, part % 2 * 2};
  }
  return grid;
}

/// Adjacent elements of a row in one register, which share a field.
int run_of(const vgpu::layout::Fragment& fragment) {
  const auto& slots = fragment.slots;
  int run = 1;
  while (run < fragment.per_register && slots[static_cast<std::size_t>(run)].row == slots[0].row &&
         slots[static_cast<std::size_t>(run)].column == slots[0].column + run) {
    ++run;
  }
  return run == fragment.per_register ? run : 1;
}

Grid register_grid(const vgpu::layout::Fragment& fragment) {
  const int run = run_of(fragment);
  Grid grid{"row", {}, {}, {}};
  for (int column = 0; column < fragment.columns; column += run) {
    grid.columns.push_back(run == 1 ? fmt::format("{}", column)
                                    : fmt::format("{}-{}", column, column + run - 1));
  }
  for (int row = 0; row < fragment.rows; ++row) grid.rows.push_back(fmt::format("{}", row));
  grid.fields.assign(grid.rows.size(), std::vector<Grid::Field>(grid.columns.size()));
  for (const auto& slot : fragment.slots) {
    auto& field = grid.fields[static_cast<std::size_t>(slot.row)]
                             [static_cast<std::size_t>(slot.column / run)];
    if (!field.text.empty()) continue;  // a fragment of wmma may hold an element several times
    const char unit = fragment.in_tensor_memory ? 'c' : 'r';
    field = {run == fragment.per_register
                 ? fmt::format("{} {}{}", slot.thread, unit, slot.reg)
                 : fmt::format("{} {}{}.{}", slot.thread, unit, slot.reg, slot.index),
             slot.reg % hues, slot.thread % shades};
  }
  return grid;
}

Grid grid_of(const View& view) {
  return view.fragment ? register_grid(*view.fragment) : memory_grid(view);
}

constexpr const char* hue_names[hues] = {"blue", "orange", "green", "purple"};

}  // namespace

std::string table(const View& view, int rows) {
  Grid grid = grid_of(view);
  std::size_t width = 1, row_width = grid.corner.size();
  for (const auto& row : grid.fields) {
    for (const auto& field : row) width = std::max(width, field.text.size());
  }
  for (const auto& text : grid.columns) width = std::max(width, text.size());
  for (const auto& text : grid.rows) row_width = std::max(row_width, text.size());
  const std::size_t fitting = (text_width - row_width) / (width + 2);
  const std::size_t columns =
      rows == 0 ? grid.columns.size() : std::clamp<std::size_t>(fitting, 1, grid.columns.size());
  const std::size_t shown =
      rows == 0 ? grid.rows.size()
                : std::min<std::size_t>(static_cast<std::size_t>(rows), grid.rows.size());
  std::string text = fmt::format("{:>{}}", grid.corner, row_width);
  for (std::size_t i = 0; i < columns; ++i) text += fmt::format("  {:>{}}", grid.columns[i], width);
  text += "\n";
  for (std::size_t row = 0; row < shown; ++row) {
    text += fmt::format("{:>{}}", grid.rows[row], row_width);
    for (std::size_t i = 0; i < columns; ++i) {
      const std::string& cell = grid.fields[row][i].text;
      text += fmt::format("  {:>{}}", cell.empty() ? "." : cell, width);
    }
    text += "\n";
  }
  if (shown < grid.rows.size() || columns < grid.columns.size()) {
    text += fmt::format("{} of {} rows, {} of {} columns; --all shows all\n", shown,
                        grid.rows.size(), columns, grid.columns.size());
  }
  return text;
}

std::string picture(const View& view) {
  constexpr std::size_t max_rows = 64, max_columns = 32;
  constexpr double left = 52, top = 22, height = 18;
  const Grid grid = grid_of(view);
  const std::size_t rows = std::min(max_rows, grid.rows.size());
  const std::size_t columns = std::min(max_columns, grid.columns.size());
  std::size_t longest = 4;
  for (const auto& row : grid.fields) {
    for (const auto& field : row) longest = std::max(longest, field.text.size());
  }
  const double width = 6.0 * static_cast<double>(longest) + 10;
  std::string description = view.title;
  for (const std::string& note : view.notes) description += ". " + note;
  svg::Picture drawn("layout", left + width * static_cast<double>(columns) + 2,
                     top + height * static_cast<double>(rows) + 2, view.title, description);
  drawn.text({left - 8, 14}, grid.corner, "soft small end");
  for (std::size_t i = 0; i < columns; ++i) {
    drawn.text({left + width * (static_cast<double>(i) + 0.5), 14}, grid.columns[i],
               "soft small middle");
  }
  for (std::size_t row = 0; row < rows; ++row) {
    const double y = top + height * static_cast<double>(row);
    drawn.text({left - 8, y + 13}, grid.rows[row], "soft small end");
    for (std::size_t i = 0; i < columns; ++i) {
      const Grid::Field& field = grid.fields[row][i];
      const double x = left + width * static_cast<double>(i);
      drawn.rect({x, y, width - 1, height - 1},
                 field.hue < 0 ? std::string("empty")
                               : fmt::format("{} wash{}", hue_names[field.hue], field.shade + 1));
      if (!field.text.empty()) {
        drawn.text({x + width / 2, y + 13}, field.text, "small middle");
      }
    }
  }
  return drawn.captioned_file(description);
}

}  // namespace rung::layout
