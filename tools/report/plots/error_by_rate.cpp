#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tools/report/numbers.hpp"
#include "tools/report/plots/frame.hpp"
#include "tools/report/plots/plots.hpp"

namespace rung {
namespace {

struct Point {
  std::string family;
  double rate;  // GFLOP/s
  MeasuredErrors errors;
};

/// The library in one mode, or a peer.
struct ModeSeries {
  std::string name;
  std::vector<Point> points;  // one per family; the last of repeated measurements
};

void add(std::vector<ModeSeries>& all, const std::string& name, const Point& point) {
  auto found = std::ranges::find(all, name, &ModeSeries::name);
  if (found == all.end()) found = all.insert(all.end(), {name, {}});
  const auto same = std::ranges::find(found->points, point.family, &Point::family);
  if (same == found->points.end()) {
    found->points.push_back(point);
  } else {
    *same = point;
  }
}

/// Modes first, then peers.
std::vector<ModeSeries> series_of(const std::vector<const Result*>& results) {
  std::vector<ModeSeries> modes, peers;
  for (const Result* result : results) {
    if (!result->is_library()) continue;
    add(modes, "mode " + result->math, {result->family, result->rate(), *result->errors});
    for (const PeerResult& peer : result->peers) {
      if (!peer.errors || !peer.seconds) continue;
      const double rate = result->rate() * *result->seconds / *peer.seconds;
      add(peers, peer.name, {result->family, rate, *peer.errors});
    }
  }
  modes.insert(modes.end(), peers.begin(), peers.end());
  return modes;
}

/// A logarithmic axis cannot show zero: it is drawn at the lower end.
constexpr double least_error = 0.01;

double shown(double error) { return std::clamp(error, least_error, 1e9); }

Frame frame_of(const std::vector<ModeSeries>& all) {
  constexpr double left = 52, right = plot_width - 70, top = 40, bottom = 320;
  double fastest = 0, low = HUGE_VAL, high = 0;
  for (const ModeSeries& series : all) {
    for (const Point& point : series.points) {
      fastest = std::max(fastest, point.rate);
      low = std::min(low, shown(point.errors.largest));
      high = std::max(high, shown(point.errors.largest));
    }
  }
  return {left,
          right,
          top,
          bottom,
          svg::Scale::linear(0, 1.05 * fastest, left, right),
          svg::Scale::logarithmic(low / 1.6, high * 1.6, bottom, top)};
}

void draw_legend(svg::Picture& picture, const std::vector<ModeSeries>& all) {
  double x = 52;
  for (std::size_t i = 0; i < all.size(); ++i) {
    picture.marker(look(i).marker, {x + 5, 26}, fmt::format("solid {}", look(i).hue));
    picture.text({x + 14, 30}, all[i].name);
    x += 30 + 6.5 * static_cast<double>(all[i].name.size());
  }
}

void draw_points(svg::Picture& picture, const Frame& frame, const std::vector<ModeSeries>& all) {
  Labels labels({frame.left, frame.top, plot_width - frame.left, frame.bottom - frame.top});
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const auto& [family, rate, errors] : all[i].points) {
      const svg::Point at = frame.at(rate, shown(errors.largest));
      picture.marker(look(i).marker, at, fmt::format("solid {}", look(i).hue),
                     fmt::format("{}, {}: {} GFLOP/s, {} u", all[i].name, family,
                                 format_three(rate), format_three(errors.largest)));
      labels.keep_free({at.x - 5, at.y - 5, 10, 10});
    }
  }
  for (const ModeSeries& series : all) {
    for (const auto& [family, rate, errors] : series.points) {
      labels.place(picture, frame.at(rate, shown(errors.largest)), family);
    }
  }
}

DataTable table_of(const std::vector<ModeSeries>& all) {
  DataTable table{{"", "elements", "GFLOP/s", "largest error, u", "normwise error"}, {}};
  for (const ModeSeries& series : all) {
    for (const auto& [family, rate, errors] : series.points) {
      table.rows.push_back({series.name,
                            family,
                            {format_three(rate), rate},
                            {format_three(errors.largest), errors.largest},
                            {fmt::format("{:.2g}", errors.normwise), errors.normwise}});
    }
  }
  return table;
}

}  // namespace

std::optional<Figure> error_by_rate(const std::string& id,
                                    const std::vector<const Result*>& results) {
  const std::vector<ModeSeries> all = series_of(results);
  std::set<std::string> modes, families;
  for (const Result* result : results) {
    if (!result->is_library()) continue;
    modes.insert(result->math);
    families.insert(result->family);
  }
  if (modes.size() < 2 && families.size() < 2) return std::nullopt;
  const Result& first = *results.front();
  const std::string title = fmt::format("Error over rate: gemm {} {}, layout {}", first.dtype,
                                        size_name(first), first.layout);
  const Frame frame = frame_of(all);
  svg::Picture picture(id, plot_width, frame.bottom + 40, title,
                       fmt::format("{} modes of the library, {} families of elements.",
                                   modes.size(), families.size()));
  frame.draw(picture, svg::round_ticks(frame.x.high(), 6),
             svg::decade_ticks(frame.y.low(), frame.y.high()), "GFLOP/s",
             "largest |error| / |A||B|, in u");
  draw_legend(picture, all);
  draw_points(picture, frame, all);
  return Figure{
      id, title,
      "Lower and further to the right is better. Each point is one family of elements; u is "
      "the unit roundoff of C's type.",
      std::move(picture), table_of(all)};
}

}  // namespace rung
