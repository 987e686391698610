#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "tools/report/numbers.hpp"
#include "tools/report/plots/frame.hpp"
#include "tools/report/plots/plots.hpp"

namespace rung {
namespace {

struct Roofs {
  double gflops = 0, gbps = 0;
  std::string flops_name, bytes_name;
};

/// The number at a path of members; 0 if it does not exist.
double number_at(const Json& machine, std::initializer_list<std::string> path) {
  const Json* place = &machine;
  for (const std::string& member : path) {
    if (!place->is_object() || !place->contains(member)) return 0;
    place = &(*place)[member];
  }
  return place->is_number() ? place->get<double>() : 0;
}

/// One of the two ceilings is the benchmark's, the other the machine's. Zero if unknown.
Roofs roofs_of(const Result& result, const Json& machine) {
  const bool on_gpu = result.device.starts_with("gpu");
  const std::string threads = result.threads == 1 ? "one_thread" : "all_threads";
  Roofs roofs;
  if (result.device.starts_with("virtual")) return roofs;  // simulated; times are meaningless
  if (on_gpu) {
    roofs.gflops = number_at(machine, {"gpu", "ceilings", "multiply_add", result.dtype});
    roofs.gbps = number_at(machine, {"gpu", "ceilings", "memory_read"});
  } else {
    roofs.gflops = number_at(machine, {"ceilings", "multiply_add", result.dtype, threads});
    roofs.gbps = number_at(machine, {"ceilings", "read", "DRAM", threads});
  }
  roofs.flops_name = result.dtype + " multiply-add";
  roofs.bytes_name = "memory read";
  if (result.counts_flops() && result.ceiling_rate) roofs.gflops = *result.ceiling_rate;
  return roofs;
}

struct Spot {
  std::string name;
  double intensity, gflops;
  bool counted;  // counted on the virtual GPU
};

std::vector<Spot> spots_of(const std::vector<const Result*>& ladder, const Traces& traces) {
  std::vector<Spot> spots;
  for (const Result* rung : ladder) {
    const auto trace = traces.find(rung->rung);
    const bool counted = trace != traces.end() && trace->second.intensity() > 0;
    const double once = rung->gflops.value_or(0) / rung->gbps.value_or(1);
    const double intensity = counted ? trace->second.intensity() : once;
    spots.push_back({slug_of(rung->rung), intensity, rung->gflops.value_or(0), counted});
  }
  return spots;
}

std::string note_of(const std::vector<Spot>& spots) {
  std::string note =
      "The slope is the rate of reading memory, the horizontal line the rate of multiply-adds in "
      "registers, both measured. ";
  if (std::any_of(spots.begin(), spots.end(), [](const Spot& spot) { return spot.counted; })) {
    note +=
        "Bytes are those that warps and bulk copies request from global memory, in whole sectors, "
        "as counted by the virtual GPU: a point above the slope gets the rest from caches. ";
  }
  if (std::any_of(spots.begin(), spots.end(), [](const Spot& spot) { return !spot.counted; })) {
    note += "For rungs without a trace, bytes are each operand once, the minimum.";
  }
  return note;
}

DataTable table_of(const std::vector<Spot>& spots, const Roofs& roofs) {
  DataTable table{{"rung", "FLOP/byte", "GFLOP/s", "bound, GFLOP/s", "of the bound"}, {}};
  for (const Spot& spot : spots) {
    const double bound = std::min(roofs.gflops, spot.intensity * roofs.gbps);
    table.rows.push_back({spot.name,
                          {format_three(spot.intensity), spot.intensity},
                          {format_three(spot.gflops), spot.gflops},
                          {format_three(bound), bound},
                          {format_percent(spot.gflops / bound), spot.gflops / bound}});
  }
  return table;
}

void draw_roofs(svg::Picture& picture, const Frame& frame, const Roofs& roofs) {
  const double ridge = roofs.gflops / roofs.gbps;
  const double from = std::max(frame.x.low(), frame.y.low() / roofs.gbps);
  const double knee = std::min(ridge, frame.x.high());
  picture.polyline({frame.at(from, from * roofs.gbps), frame.at(knee, knee * roofs.gbps)}, "roof");
  if (ridge < frame.x.high()) {
    picture.line(frame.at(ridge, roofs.gflops), frame.at(frame.x.high(), roofs.gflops), "roof");
  }
  picture.text({frame.right, frame.y.at(roofs.gflops) - 6},
               fmt::format("{}: {} GFLOP/s", roofs.flops_name, format_three(roofs.gflops)),
               "end halo");
  picture.text({frame.left + 6, frame.top + 12},
               fmt::format("slope: {}, {} GB/s", roofs.bytes_name, format_three(roofs.gbps)),
               "halo");
}

Frame frame_of(const std::vector<Spot>& spots, const Roofs& roofs) {
  double low_x = roofs.gflops / roofs.gbps, high_x = low_x, low_y = roofs.gflops;
  for (const Spot& spot : spots) {
    low_x = std::min(low_x, spot.intensity);
    high_x = std::max(high_x, spot.intensity);
    low_y = std::min(low_y, spot.gflops);
  }
  constexpr double right = plot_width - 10, top = 26, bottom = 350;
  const svg::Scale y = svg::Scale::logarithmic(low_y / 2, roofs.gflops * 2.5, bottom, top);
  const double left = 12 + width_of_labels(svg::decade_ticks(y.low(), y.high()));
  return {left, right, top, bottom, svg::Scale::logarithmic(low_x / 2, high_x * 2, left, right), y};
}

/// Draws labels first, so that points cover their lines.
void draw_spots(svg::Picture& picture, const Frame& frame, const std::vector<Spot>& spots,
                double roof) {
  Labels labels({frame.left, frame.top + 18, frame.right - frame.left, frame.bottom - frame.top});
  labels.keep_free({frame.right - 200, frame.y.at(roof) - 18, 200, 20});
  for (const Spot& spot : spots) {
    const svg::Point at = frame.at(spot.intensity, spot.gflops);
    labels.keep_free({at.x - 6, at.y - 6, 12, 12});
  }
  for (const Spot& spot : spots) {
    labels.place(picture, frame.at(spot.intensity, spot.gflops), short_name(spot.name));
  }
  for (const Spot& spot : spots) {
    picture.marker(spot.counted ? svg::Marker::circle : svg::Marker::square,
                   frame.at(spot.intensity, spot.gflops), "solid blue",
                   fmt::format("{}: {} GFLOP/s at {} FLOP/byte", spot.name,
                               format_three(spot.gflops), format_three(spot.intensity)));
  }
}

}  // namespace

std::optional<Figure> roofline(const std::string& id, const Study& study, const Results& results,
                               const Traces& traces) {
  const std::vector<const Result*> ladder = study.ladder();
  if (ladder.empty()) return std::nullopt;
  const Roofs roofs = roofs_of(*ladder.back(), *results.sources[ladder.back()->source].machine);
  if (roofs.gflops <= 0 || roofs.gbps <= 0) return std::nullopt;
  const std::vector<Spot> spots = spots_of(ladder, traces);
  const Frame frame = frame_of(spots, roofs);
  const std::string title =
      fmt::format("Roofline of {} at {}", study.name(), size_name(*ladder.front()));
  svg::Picture picture(
      id, plot_width, 390, title,
      fmt::format(
          "{} rungs below a slope of {} GB/s and a level of {} GFLOP/s; from {} to {} GFLOP/s.",
          spots.size(), format_three(roofs.gbps), format_three(roofs.gflops),
          format_three(spots.front().gflops), format_three(spots.back().gflops)));
  frame.draw(picture, svg::decade_ticks(frame.x.low(), frame.x.high()),
             svg::decade_ticks(frame.y.low(), frame.y.high()), "FLOP per byte", "GFLOP/s");
  draw_roofs(picture, frame, roofs);
  draw_spots(picture, frame, spots, roofs.gflops);
  return Figure{id, title, note_of(spots), std::move(picture), table_of(spots, roofs)};
}

}  // namespace rung
