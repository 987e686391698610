#include "tools/report/plots/levels_roofline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "tools/report/numbers.hpp"
#include "tools/report/plots/frame.hpp"
#include "tools/report/table.hpp"

namespace rung {
namespace {

constexpr double giga = 1e-9;

/// A level of memory with its peak rate.
struct Roof {
  std::string name;
  double intensity, gbps, seconds;

  double gflops() const { return intensity * gbps; }
};

struct Roofs {
  double peak;  // GFLOP/s
  std::vector<Roof> memory;
  std::string bound;
};

Roofs roofs_of(const analysis::Explanation& e) {
  const analysis::Roofline& roofline = e.evidence.roofline;
  Roofs roofs{e.evidence.machine.flops * giga, {}, roofline.bound().name};
  for (const analysis::Level& level : roofline.levels) {
    const bool is_memory = level.is_bound && &level != &roofline.levels.front();
    if (!is_memory || level.bytes <= 0 || level.seconds <= 0) continue;
    roofs.memory.push_back({level.name, level.flops_per_byte(roofline.flops),
                            level.bytes / level.seconds * giga, level.seconds});
  }
  return roofs;
}

Frame frame_of(const Roofs& roofs, double lowest) {
  double low_x = 1e300, high_x = 0, low_y = std::min(lowest, roofs.peak);
  for (const Roof& roof : roofs.memory) {
    const double ridge = roofs.peak / roof.gbps;
    low_x = std::min({low_x, roof.intensity, ridge});
    high_x = std::max({high_x, roof.intensity, ridge});
    low_y = std::min(low_y, std::min(roofs.peak, roof.gflops()));
  }
  constexpr double right = plot_width - 10, top = 26, bottom = 350;
  const svg::Scale y = svg::Scale::logarithmic(low_y / 3, roofs.peak * 2.5, bottom, top);
  const double left = 12 + width_of_labels(svg::decade_ticks(y.low(), y.high()));
  return {left, right, top, bottom, svg::Scale::logarithmic(low_x / 2, high_x * 2, left, right), y};
}

void draw_roofs(svg::Picture& picture, const Frame& frame, const Roofs& roofs) {
  double first_knee = frame.x.high();
  for (std::size_t i = 0; i < roofs.memory.size(); ++i) {
    const Roof& roof = roofs.memory[i];
    const double knee = std::min(roofs.peak / roof.gbps, frame.x.high());
    const double from = std::max(frame.x.low(), frame.y.low() / roof.gbps);
    first_knee = std::min(first_knee, knee);
    const Look way = look(i);
    picture.line(frame.at(from, from * roof.gbps), frame.at(knee, knee * roof.gbps),
                 fmt::format("stroke {} {}", way.hue, way.line),
                 fmt::format("{}: {} GB/s", roof.name, format_three(roof.gbps)));
  }
  picture.line(frame.at(first_knee, roofs.peak), frame.at(frame.x.high(), roofs.peak), "roof");
  picture.text({frame.right, frame.y.at(roofs.peak) - 6},
               fmt::format("multiply-adds: {} GFLOP/s", format_three(roofs.peak)), "end halo");
}

void draw_points(svg::Picture& picture, const Frame& frame, const Roofs& roofs) {
  Labels labels({frame.left, frame.top + 18, frame.right - frame.left, frame.bottom - frame.top});
  labels.keep_free({frame.right - 230, frame.y.at(roofs.peak) - 18, 230, 20});
  const auto place = [&](const Roof& roof) {
    return frame.at(roof.intensity, std::min(roofs.peak, roof.gflops()));
  };
  for (const Roof& roof : roofs.memory) {
    labels.keep_free({place(roof).x - 6, place(roof).y - 6, 12, 12});
  }
  for (const Roof& roof : roofs.memory) labels.place(picture, place(roof), roof.name);
  for (std::size_t i = 0; i < roofs.memory.size(); ++i) {
    const Roof& roof = roofs.memory[i];
    picture.marker(look(i).marker, place(roof), fmt::format("solid {}", look(i).hue),
                   fmt::format("{}: {} FLOP/byte allow {} GFLOP/s", roof.name,
                               format_three(roof.intensity), format_three(roof.gflops())));
  }
}

/// A horizontal line with a label: the measured time or the minimum.
void draw_rate(svg::Picture& picture, const Frame& frame, double gflops, const std::string& text) {
  picture.line(frame.at(frame.x.low(), gflops), frame.at(frame.x.high(), gflops), "axis dotted",
               text);
  picture.text({frame.right, frame.y.at(gflops) + 13}, text, "end soft halo");
}

DataTable table_of(const Roofs& roofs) {
  DataTable table{{"level", "FLOP/byte", "GB/s", "allows, GFLOP/s", "takes"}, {}};
  for (const Roof& roof : roofs.memory) {
    table.rows.push_back({roof.name,
                          {format_three(roof.intensity), roof.intensity},
                          {format_three(roof.gbps), roof.gbps},
                          {format_three(roof.gflops()), roof.gflops()},
                          {format_seconds(roof.seconds), roof.seconds}});
  }
  table.rows.push_back({"multiply-adds", "–", "–", {format_three(roofs.peak), roofs.peak}, "–"});
  return table;
}

}  // namespace

std::optional<Figure> levels_roofline(const std::string& id, const std::string& name,
                                      const analysis::Explanation& e) {
  const analysis::Roofline& roofline = e.evidence.roofline;
  const Roofs roofs = roofs_of(e);
  if (roofline.flops <= 0 || roofs.peak <= 0 || roofs.memory.empty()) return std::nullopt;
  const double seconds = e.measured ? e.measured->seconds : roofline.seconds();
  const double rate = roofline.flops / seconds * giga;
  const std::string said =
      fmt::format("{}: {} GFLOP/s", e.measured ? "measured" : "at the most", format_three(rate));
  const Frame frame = frame_of(roofs, rate);
  const std::string title = fmt::format("Roofline of {}", name);
  svg::Picture picture(
      id, plot_width, 390, title,
      fmt::format("{} levels of memory below {} GFLOP/s; the bound is {}; {}.", roofs.memory.size(),
                  format_three(roofs.peak), roofs.bound, said));
  frame.draw(picture, svg::decade_ticks(frame.x.low(), frame.x.high()),
             svg::decade_ticks(frame.y.low(), frame.y.high()), "FLOP per byte", "GFLOP/s");
  draw_roofs(picture, frame, roofs);
  draw_rate(picture, frame, rate, said);
  draw_points(picture, frame, roofs);
  const std::string note = fmt::format(
      "Each slope is the bandwidth of a level of memory; the mark on it is at the kernel's FLOP "
      "per "
      "byte moved there. The lowest mark is the bound: {}.",
      roofs.bound);
  return Figure{id, title, note, std::move(picture), table_of(roofs)};
}

}  // namespace rung
