#include <fmt/format.h>

#include <algorithm>

#include "tools/report/numbers.hpp"
#include "tools/report/plots/frame.hpp"
#include "tools/report/plots/plots.hpp"

namespace rung {
namespace {

constexpr double row_height = 24;
constexpr double left = 132;
constexpr double right = plot_width - 58;
constexpr double top = 34;

struct Bar {
  std::string name;
  double rate;
  bool is_peer;
};

/// The unit of the bars, and how many of the study's units it has: TFLOP/s from 10 000 GFLOP/s on.
struct Unit {
  std::string name;
  double size = 1;
};

Unit unit_for(const Study& study, double most) {
  if (study.unit() == "GFLOP/s" && most >= 1e4) return {"TFLOP/s", 1e3};
  return {study.unit()};
}

std::vector<Bar> bars_of(const std::vector<const Result*>& ladder, const Study& study) {
  std::vector<Bar> bars;
  for (const Result* rung : ladder) bars.push_back({slug_of(rung->rung), rung->rate(), false});
  // All contenders of a problem are timed interleaved, so a peer's rate is the same for each except
  // for noise.
  const Result& last = *ladder.back();
  for (const std::string& peer : study.peers()) {
    if (const auto seconds = seconds_of(last, peer)) {
      bars.push_back({peer, last.rate() * *last.seconds / *seconds, true});
    }
  }
  return bars;
}

void draw_bar(svg::Picture& picture, const Bar& bar, double y, const svg::Scale& x,
              const std::string& unit) {
  picture.text({left - 8, y + 15}, bar.name, bar.is_peer ? "end soft" : "end");
  const std::string text = format_three(bar.rate);
  picture.rect({left, y + 3, std::max(1.0, x.at(bar.rate) - left), row_height - 6},
               bar.is_peer ? "hollow orange" : "solid blue",
               fmt::format("{}: {} {}", bar.name, text, unit));
  picture.text({x.at(bar.rate) + 5, y + 15}, text, "small halo");
}

DataTable table_of(const std::vector<Bar>& bars, const std::string& unit) {
  DataTable table{{"", unit}, {}};
  for (const Bar& bar : bars) table.rows.push_back({bar.name, {format_three(bar.rate), bar.rate}});
  return table;
}

}  // namespace

std::optional<Figure> ladder_bars(const std::string& id, const Study& study) {
  const std::vector<const Result*> ladder = study.ladder();
  if (ladder.size() < 2) return std::nullopt;
  std::vector<Bar> bars = bars_of(ladder, study);
  double ceiling = ladder.back()->ceiling_rate.value_or(0);
  double most = ceiling;
  for (const Bar& bar : bars) most = std::max(most, bar.rate);
  const auto [unit, size] = unit_for(study, most);
  for (Bar& bar : bars) bar.rate /= size;
  ceiling /= size;
  most /= size;

  const std::string title =
      fmt::format("The ladder of {} at {}", study.name(), size_name(*ladder.front()));
  const std::string description = fmt::format(
      "Bars, from {} {} of {} to {} of {}.", format_three(bars.front().rate), unit,
      bars.front().name, format_three(ladder.back()->rate() / size), slug_of(ladder.back()->rung));
  const double bottom = top + row_height * static_cast<double>(bars.size());
  svg::Picture picture(id, plot_width, bottom + 8, title, description);
  const svg::Scale x = svg::Scale::linear(0, most, left, right);
  picture.text({4, 14}, fmt::format("{} at {}", unit, size_name(*ladder.front())), "soft");
  if (ceiling > 0) {
    const double at = x.at(ceiling);
    picture.line(
        {at, top - 6}, {at, bottom}, "roof dashed",
        fmt::format("ceiling, {}: {} {}", ladder.back()->ceiling, format_three(ceiling), unit));
    picture.text({plot_width - 4, 14},
                 fmt::format("ceiling ({}): {}", ladder.back()->ceiling, format_three(ceiling)),
                 "soft end");
  }
  double y = top;
  for (const Bar& bar : bars) {
    draw_bar(picture, bar, y, x, unit);
    y += row_height;
  }
  return Figure{
      id, title,
      "Filled bars are rungs, hollow ones libraries to compare with; the dashed line is the "
      "rate that was measured with operands in registers or in cache.",
      std::move(picture), table_of(bars, unit)};
}

}  // namespace rung
