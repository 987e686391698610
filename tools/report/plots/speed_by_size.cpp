#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

#include "tools/report/numbers.hpp"
#include "tools/report/plots/frame.hpp"
#include "tools/report/plots/plots.hpp"

namespace rung {
namespace {

struct Series {
  std::string name;
  std::map<std::int64_t, double> rates;  // by size
  bool is_rung;
};

Series series_of(const std::string& name, const std::vector<const Result*>& curve, bool is_rung) {
  Series series{name, {}, is_rung};
  for (const Result* point : curve) series.rates[point->n] = point->rate();
  return series;
}

Series peer_series(const std::string& peer, const std::vector<const Result*>& curve) {
  Series series{peer, {}, false};
  for (const Result* point : curve) {
    if (const auto seconds = seconds_of(*point, peer)) {
      series.rates[point->n] = point->rate() * *point->seconds / *seconds;
    }
  }
  return series;
}

/// The library or, if missing, the last rung; then its peers, then the rungs.
std::vector<Series> all_series(const Study& study) {
  auto curves = study.curves();
  if (curves.empty()) return {};
  const auto library = curves.find("library");
  const auto main = library != curves.end() ? library : std::prev(curves.end());
  const std::vector<const Result*> first = main->second;
  std::vector<Series> all = {series_of(slug_of(main->first), first, false)};
  curves.erase(main);
  for (const std::string& peer : study.peers()) all.push_back(peer_series(peer, first));
  for (const auto& [rung, curve] : curves) {
    if (curve.size() > 1) all.push_back(series_of(slug_of(rung), curve, true));
  }
  return all;
}

std::set<std::int64_t> sizes_of(const std::vector<Series>& all) {
  std::set<std::int64_t> sizes;
  for (const Series& series : all) {
    for (const auto& [size, rate] : series.rates) sizes.insert(size);
  }
  return sizes;
}

DataTable table_of(const std::vector<Series>& all, const std::set<std::int64_t>& sizes,
                   const std::string& unit) {
  DataTable table{{"n"}, {}};
  for (const Series& series : all) table.headings.push_back(series.name + ", " + unit);
  for (const std::int64_t size : sizes) {
    std::vector<Cell> row = {{format_grouped(static_cast<double>(size))}};
    for (const Series& series : all) {
      const auto found = series.rates.find(size);
      row.push_back(found == series.rates.end() ? Cell("–")
                                                : Cell(format_three(found->second), found->second));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// True if there is a size within 3 % that is divisible by a larger power of two: 4095 is a
/// separate point next to the line through 4096.
template <class Sizes, class SizeOf>
bool is_beside(std::int64_t size, const Sizes& sizes, const SizeOf& size_of) {
  const auto roundness = [](std::int64_t n) {
    return std::countr_zero(static_cast<std::uint64_t>(n));
  };
  const auto exact = static_cast<double>(size);
  auto other = sizes.lower_bound(static_cast<std::int64_t>(0.97 * exact));
  for (; other != sizes.end() && static_cast<double>(size_of(*other)) < 1.03 * exact; ++other) {
    const double factor = static_cast<double>(size_of(*other)) / exact;
    if (factor > 0.97 && factor < 1.03 && roundness(size_of(*other)) > roundness(size)) return true;
  }
  return false;
}

bool is_beside(std::int64_t size, const std::map<std::int64_t, double>& rates) {
  return is_beside(size, rates, [](const auto& rate) { return rate.first; });
}

bool is_beside(std::int64_t size, const std::set<std::int64_t>& sizes) {
  return is_beside(size, sizes, [](std::int64_t other) { return other; });
}

std::vector<svg::Point> line_of(const Frame& frame, const Series& series) {
  std::vector<svg::Point> points;
  for (const auto& [size, rate] : series.rates) {
    if (is_beside(size, series.rates)) continue;
    points.push_back(frame.at(static_cast<double>(size), rate));
  }
  return points;
}

void draw_rung(svg::Picture& picture, const Frame& frame, const Series& series, Labels& labels) {
  const std::vector<svg::Point> points = line_of(frame, series);
  picture.begin_group("", series.name);
  picture.polyline(points, "thin stroke grey");
  picture.end_group();
  labels.place(picture, points.back(), short_name(series.name));
}

void draw_curve(svg::Picture& picture, const Frame& frame, const Series& series, const Look& look,
                const std::string& unit) {
  picture.polyline(line_of(frame, series), fmt::format("stroke {} {}", look.line, look.hue));
  for (const auto& [size, rate] : series.rates) {
    picture.marker(
        look.marker, frame.at(static_cast<double>(size), rate),
        fmt::format("{} {}", look.line[0] == '\0' ? "solid" : "hollow", look.hue),
        fmt::format("{} at {}: {} {}", series.name, format_grouped(static_cast<double>(size)),
                    format_three(rate), unit));
  }
}

void draw_legend(svg::Picture& picture, const std::vector<Series>& all) {
  double x = 70;
  for (std::size_t i = 0; i < all.size() && !all[i].is_rung; ++i) {
    const Look shown = look(i);
    picture.line({x, 10}, {x + 26, 10}, fmt::format("stroke {} {}", shown.line, shown.hue));
    picture.marker(shown.marker, {x + 13, 10},
                   fmt::format("{} {}", shown.line[0] == '\0' ? "solid" : "hollow", shown.hue));
    picture.text({x + 31, 14}, all[i].name);
    x += 46 + 7.0 * static_cast<double>(all[i].name.size());
  }
}

double highest(const std::vector<Series>& all) {
  double most = 0;
  for (const Series& series : all) {
    for (const auto& [size, rate] : series.rates) most = std::max(most, rate);
  }
  return most;
}

Frame frame_of(const std::set<std::int64_t>& sizes, double most) {
  constexpr double left = 58, right = plot_width - 34, top = 26, bottom = 290;
  const auto low = static_cast<double>(*sizes.begin());
  const auto high = static_cast<double>(*sizes.rbegin());
  return {left,
          right,
          top,
          bottom,
          svg::Scale::logarithmic(low, high, left + 8, right - 8),
          svg::Scale::linear(0, most, bottom, top)};
}

std::vector<svg::Tick> ticks_of(const std::set<std::int64_t>& sizes) {
  std::vector<svg::Tick> ticks;
  for (const std::int64_t size : sizes) {
    if (is_beside(size, sizes)) continue;
    ticks.push_back({static_cast<double>(size), svg::tick_label(static_cast<double>(size))});
  }
  return ticks;
}

/// Draws rungs first, and the library on top.
void draw_series(svg::Picture& picture, const Frame& frame, const std::vector<Series>& all,
                 const std::string& unit) {
  Labels labels({frame.left, frame.top, plot_width - frame.left, frame.bottom - frame.top});
  for (const Series& series : all) {
    if (series.is_rung) draw_rung(picture, frame, series, labels);
  }
  for (std::size_t i = all.size(); i-- > 0;) {
    if (!all[i].is_rung) draw_curve(picture, frame, all[i], look(i), unit);
  }
}

}  // namespace

std::optional<Figure> speed_by_size(const std::string& id, const Study& study) {
  const std::vector<Series> all = all_series(study);
  const std::set<std::int64_t> sizes = sizes_of(all);
  if (sizes.size() < 3) return std::nullopt;
  const double most = 1.05 * highest(all);
  const Frame frame = frame_of(sizes, most);
  const std::string title = fmt::format("Rate over size: {}", study.name());
  svg::Picture picture(
      id, plot_width, 330, title,
      fmt::format("{} at {} sizes from {} to {}, up to {} {}.", all.front().name, sizes.size(),
                  format_grouped(frame.x.low()), format_grouped(frame.x.high()),
                  format_three(highest(all)), study.unit()));
  frame.draw(picture, ticks_of(sizes), svg::round_ticks(most, 6), "n", study.unit());
  draw_legend(picture, all);
  draw_series(picture, frame, all, study.unit());
  return Figure{
      id, title,
      "Square problems; n is the size of each side, or the length of a vector. Thin lines "
      "are single rungs, by number; points beside a line are sizes close to a rounder one.",
      std::move(picture), table_of(all, sizes, study.unit())};
}

}  // namespace rung
