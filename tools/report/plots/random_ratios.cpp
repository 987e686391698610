#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tools/measure/random/ratio_statistics.hpp"
#include "tools/report/numbers.hpp"
#include "tools/report/plots/frame.hpp"
#include "tools/report/plots/plots.hpp"

namespace rung {
namespace {

/// The draws of one data type, in order of appearance.
struct Series {
  std::string dtype;
  std::vector<const RandomDraw*> draws;  // only those with a ratio
};

std::vector<Series> series_of(const std::vector<RandomDraw>& draws) {
  std::vector<Series> all;
  for (const RandomDraw& draw : draws) {
    if (!draw.ratio) continue;
    auto found = std::find_if(all.begin(), all.end(),
                              [&](const Series& series) { return series.dtype == draw.dtype; });
    if (found == all.end()) found = all.insert(all.end(), {draw.dtype, {}});
    found->draws.push_back(&draw);
  }
  return all;
}

struct Mark {
  svg::Marker marker;
  std::string classes;
};

/// Points are translucent, because there may be thousands. There are more data types than hues:
/// those of the second round are hollow.
Mark mark_of(std::size_t series) {
  constexpr std::size_t hues = 5;
  const Look shown = look(series % hues);
  return {shown.marker, fmt::format("{} {}", series < hues ? "tint" : "hollow", shown.hue)};
}

struct Extent {
  double low = HUGE_VAL, high = 0;

  void include(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

Frame frame_of(const std::vector<Series>& all, double top) {
  constexpr double left = 44, right = plot_width - 12;
  Extent x, y;
  y.include(0.5);
  y.include(2);
  for (const Series& series : all) {
    for (const RandomDraw* draw : series.draws) {
      x.include(draw->flops_per_byte);
      y.include(*draw->ratio);
    }
  }
  const double bottom = top + 270;
  return {left,
          right,
          top,
          bottom,
          svg::Scale::logarithmic(x.low / 1.2, x.high * 1.2, left, right),
          svg::Scale::logarithmic(y.low / 1.1, y.high * 1.1, bottom, top)};
}

/// Draws the names of the data types in rows, and returns the total height.
double draw_legend(svg::Picture* picture, const std::vector<Series>& all) {
  constexpr double row = 18;
  double x = 44, y = 28;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double width = 24 + 7.0 * static_cast<double>(all[i].dtype.size());
    if (x + width > plot_width) x = 44, y += row;
    if (picture != nullptr) {
      const auto& [marker, classes] = mark_of(i);
      picture->marker(marker, {x + 5, y - 4}, classes);
      picture->text({x + 14, y}, all[i].dtype);
    }
    x += width;
  }
  return y;
}

void draw_points(svg::Picture& picture, const Frame& frame, const std::vector<Series>& all) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& [marker, classes] = mark_of(i);
    for (const RandomDraw* draw : all[i].draws) {
      picture.marker(marker, frame.at(draw->flops_per_byte, *draw->ratio), classes,
                     fmt::format("{} {} {}×{}×{}: {}", draw->dtype, draw->layout, draw->m, draw->n,
                                 draw->k, format_ratio(draw->ratio)));
    }
  }
}

std::vector<Cell> row_of(const std::string& kind, const std::vector<const RandomDraw*>& draws) {
  std::vector<double> ratios, regrets;
  for (const RandomDraw* draw : draws) {
    if (draw->ratio) ratios.push_back(*draw->ratio);
    if (draw->regret) regrets.push_back(*draw->regret);
  }
  const RatioStatistics ratio = ratio_statistics(ratios);
  const RegretStatistics regret = regret_statistics(regrets);
  const auto number = [](double value) {
    return value > 0 ? Cell(fmt::format("{:.2f}", value), value) : Cell("–");
  };
  return {kind,
          {std::to_string(ratio.count), static_cast<double>(ratio.count)},
          number(ratio.geometric_mean),
          number(ratio.median),
          number(ratio.fifth_percentile),
          number(ratio.worst),
          {std::to_string(ratio.below), static_cast<double>(ratio.below)},
          number(regret.geometric_mean),
          number(regret.ninety_fifth_percentile)};
}

/// One row per data type and layout.
DataTable table_of(const std::vector<Series>& all) {
  DataTable table{
      {"type and layout", "shapes", "geometric mean", "median", "5th percentile", "worst",
       fmt::format("below {}", ratio_limit), "regret", "95th percentile of regret"},
      {}};
  for (const Series& series : all) {
    std::map<std::string, std::vector<const RandomDraw*>> layouts;
    for (const RandomDraw* draw : series.draws) layouts[draw->layout].push_back(draw);
    for (const auto& [layout, draws] : layouts) {
      table.rows.push_back(row_of(series.dtype + " " + layout, draws));
    }
  }
  return table;
}

}  // namespace

std::optional<Figure> random_ratios(const std::string& id, const std::vector<RandomDraw>& draws) {
  const std::vector<Series> all = series_of(draws);
  if (all.empty()) return std::nullopt;
  const std::string title = "The library against the fastest peer on random shapes";
  const Frame frame = frame_of(all, draw_legend(nullptr, all) + 14);
  std::size_t count = 0;
  for (const Series& series : all) count += series.draws.size();
  svg::Picture picture(id, plot_width, frame.bottom + 40, title,
                       fmt::format("{} measurements on shapes from {} to {} FLOP per byte.", count,
                                   format_three(frame.x.low()), format_three(frame.x.high())));
  const std::vector<svg::Tick> ratio_ticks = {{0.1, "0.1"}, {0.2, "0.2"}, {0.5, "0.5"}, {1, "1"},
                                              {2, "2"},     {5, "5"},     {10, "10"}};
  frame.draw(picture, svg::decade_ticks(frame.x.low(), frame.x.high()), ratio_ticks,
             "FLOP per byte of the operands", "peer time over the library's");
  picture.line({frame.left, frame.y.at(1)}, {frame.right, frame.y.at(1)}, "axis");
  draw_legend(&picture, all);
  draw_points(picture, frame, all);
  return Figure{id, title,
                "Each point is one shape in one type and layout: above 1 the library is faster, "
                "below 1 the faster of its peers. Bytes: A and B read once, C written once.",
                std::move(picture), table_of(all)};
}

}  // namespace rung
