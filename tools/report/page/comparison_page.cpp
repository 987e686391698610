// The page of `rung diff --html`.

#include <fmt/format.h>

#include <utility>

#include "tools/report/page/explanation_page.hpp"
#include "tools/report/page/html.hpp"
#include "tools/report/page/sections.hpp"
#include "tools/report/table.hpp"
#include "tools/report/unified_diff.hpp"

namespace rung {
namespace {

using vgpu::Counters;

constexpr std::pair<const char*, std::uint64_t Counters::*> compared[] = {
    {"warp instructions", &Counters::instructions},
    {"global load requests", &Counters::global_load_requests},
    {"global load sectors", &Counters::global_load_sectors},
    {"global store sectors", &Counters::global_store_sectors},
    {"shared load requests", &Counters::shared_load_requests},
    {"shared load wavefronts", &Counters::shared_load_wavefronts},
    {"shared store wavefronts", &Counters::shared_store_wavefronts},
    {"bulk load sectors", &Counters::bulk_load_sectors},
    {"barriers", &Counters::barriers},
};

std::string counters(const RungInfo& from, const RungTrace& before, const RungInfo& to,
                     const RungTrace& after) {
  DataTable table{{"", from.id, to.id, "ratio"}, {}};
  for (const auto& [name, counter] : compared) {
    const std::uint64_t left = before.counters.*counter, right = after.counters.*counter;
    if (left == 0 && right == 0) continue;
    const auto cell = [](std::uint64_t value) {
      return Cell(format_count(value), static_cast<double>(value));
    };
    const double ratio = left == 0 ? 0 : static_cast<double>(right) / static_cast<double>(left);
    table.rows.push_back({name, cell(left), cell(right),
                          left == 0 ? Cell("–") : Cell(fmt::format("{:.3g}", ratio), ratio)});
  }
  return html::table("On the virtual GPU", table);
}

std::string problem_of(const RungTrace& trace) {
  return trace.tile.empty() ? trace.problem : fmt::format("{}, tile {}", trace.problem, trace.tile);
}

}  // namespace

std::vector<Stepped> stepped(const RungInfo& rung, const RungTrace& trace) {
  if (trace.steps.empty()) return {};
  const char* const ending = rung.backend == "metal" ? ".metal" : ".cu";
  return {{rung.id, problem_of(trace), rung.slug + ending, rung.source, trace.steps}};
}

std::string comparison_page(const RungInfo& from, const RungTrace& from_trace, const RungInfo& to,
                            const RungTrace& to_trace) {
  std::vector<Stepped> both = stepped(from, from_trace);
  for (Stepped& one : stepped(to, to_trace)) both.push_back(std::move(one));
  const std::string changes =
      unified_diff({from.id, std::string(from.source)}, {to.id, std::string(to.source)}, false);
  const auto section = [](const char* id, const char* title, const std::string& html) {
    return fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n{}</section>\n", id, title, html);
  };
  return whole_page(
      fmt::format("Rung: from {} to {}", from.id, to.id), html::paragraph(to.idea),
      section("summary", "Counters", counters(from, from_trace, to, to_trace)) +
          section("steps", "Steps of a warp", steppers(both)) +
          section("changes", "Changes in the source",
                  html::scrollable("Changes", "<pre>" + html::escape(changes) + "</pre>\n")) +
          stepper_script());
}

}  // namespace rung
