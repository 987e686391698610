#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tools/report/numbers.hpp"
#include "tools/report/plots/frame.hpp"
#include "tools/report/plots/plots.hpp"

namespace rung {
namespace {

constexpr double row_height = 22;
constexpr double left = 128;
constexpr double top = 44;

struct Column {
  const Study* study;
  std::string peer;
};

using Ratios = std::vector<std::pair<std::string, std::vector<std::optional<double>>>>;  // by size

std::vector<Column> columns_of(const std::vector<const Study*>& studies) {
  std::vector<Column> columns;
  for (const Study* study : studies) {
    if (study->library().empty()) continue;
    for (const std::string& peer : study->peers()) columns.push_back({study, peer});
  }
  return columns;
}

Ratios ratios_of(const std::vector<Column>& columns) {
  Ratios rows;
  std::map<std::string, std::size_t> places;
  for (std::size_t column = 0; column < columns.size(); ++column) {
    for (const Result* result : columns[column].study->library()) {
      const std::string size = size_name(*result);
      const auto [place, is_new] = places.try_emplace(size, rows.size());
      if (is_new) rows.push_back({size, std::vector<std::optional<double>>(columns.size())});
      rows[place->second].second[column] = ratio_to(*result, columns[column].peer);
    }
  }
  return rows;
}

/// Ratios within 3 % are equal; larger ones have steps up to a factor of two and more.
std::string wash(double ratio) {
  const double factor = std::max(ratio, 1 / ratio);
  if (factor < 1.03) return "";
  const int step = factor < 1.1 ? 1 : factor < 1.3 ? 2 : factor < 2 ? 3 : 4;
  return fmt::format("wash{} {}", step, ratio > 1 ? "blue" : "orange");
}

void draw_cell(svg::Picture& picture, const svg::Box& box, const std::optional<double>& ratio,
               const std::string& hover) {
  picture.rect(box, "empty");
  if (ratio && !wash(*ratio).empty()) picture.rect(box, wash(*ratio), hover);
  picture.text({box.x + box.width / 2, box.y + 15}, format_ratio(ratio), "middle");
}

DataTable table_of(const std::vector<Column>& columns, const Ratios& rows) {
  DataTable table{{"size"}, {}};
  for (const Column& column : columns) {
    table.headings.push_back(column.study->name() + " / " + column.peer);
  }
  for (const auto& [size, ratios] : rows) {
    std::vector<Cell> row = {{size}};
    for (const auto& ratio : ratios) row.push_back({format_ratio(ratio), ratio});
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// "f32", or "f32, 2t" on a CPU.
std::string short_name(const Study& study) {
  const Result& first = study.first();
  return study.on_gpu() ? first.dtype : fmt::format("{}, {}t", first.dtype, first.threads);
}

}  // namespace

std::optional<Figure> ratio_map(const std::string& id, const std::vector<const Study*>& studies) {
  const std::vector<Column> columns = columns_of(studies);
  if (columns.empty()) return std::nullopt;
  const Ratios rows = ratios_of(columns);
  const double width =
      std::min(110.0, (plot_width - left - 4) / static_cast<double>(columns.size()));
  const std::string title =
      fmt::format("The library against its peers: {}", studies.front()->first().op);
  svg::Picture picture(id, plot_width, top + row_height * static_cast<double>(rows.size()) + 6,
                       title,
                       fmt::format("{} shapes by {} peers; peer time over the library's.",
                                   rows.size(), columns.size()));
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const double middle = left + width * (static_cast<double>(i) + 0.5);
    picture.text({middle, 16}, short_name(*columns[i].study), "soft small middle");
    picture.text({middle, 33}, columns[i].peer,
                 width > 60   ? "middle"
                 : width > 50 ? "small middle"
                              : "tiny middle");
  }
  double y = top;
  for (const auto& [size, ratios] : rows) {
    picture.text({left - 8, y + 15}, size, "end");
    for (std::size_t i = 0; i < columns.size(); ++i) {
      draw_cell(picture, {left + width * static_cast<double>(i), y, width - 2, row_height - 2},
                ratios[i],
                fmt::format("{}, {}: {} of {}'s speed", size, short_name(*columns[i].study),
                            format_ratio(ratios[i]), columns[i].peer));
    }
    y += row_height;
  }
  return Figure{
      id, title,
      "Peer time over the library's, the median over interleaved pairs: above 1 (blue) the "
      "library is faster, below 1 (orange) the peer. Shades: 3 %, 10 %, 30 %, twice.",
      std::move(picture), table_of(columns, rows)};
}

}  // namespace rung
