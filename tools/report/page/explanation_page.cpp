#include "tools/report/page/explanation_page.hpp"

#include <fmt/format.h>

#include "tools/report/explanation.hpp"
#include "tools/report/numbers.hpp"
#include "tools/report/page/html.hpp"
#include "tools/report/page/sections.hpp"
#include "tools/report/plots/levels_roofline.hpp"
#include "tools/report/table.hpp"

namespace rung {
namespace {

using analysis::Explanation;

std::string navigation(const Explained& explained, bool has_steps) {
  std::string html = "<nav aria-label=\"Contents\">\n<ul>\n";
  const auto item = [&](std::string_view target, std::string_view text) {
    html += fmt::format("<li>{}</li>\n", html::link(target, text));
  };
  if (!explained.hazards.empty()) item("hazards", "Hazards");
  item("summary", "Summary");
  item("next", "What to do next");
  if (has_steps) item("steps", "Steps of a warp");
  item("traffic", "Traffic and minimum times");
  item("occupancy", "Occupancy");
  item("instructions", "Instructions");
  item(explained.rung == nullptr ? "source" : rung_anchor(explained.rung->id), "Source");
  return html + "</ul>\n</nav>\n";
}

std::string section(const std::string& id, const std::string& title, const std::string& html) {
  return fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n{}</section>\n", id, title, html);
}

/// Shown first, because the figures of an incorrect program are of little value.
std::string hazards(const Explained& explained) {
  if (explained.hazards.empty()) return "";
  std::string html = "<ul>\n";
  for (const std::string& hazard : explained.hazards) {
    html += fmt::format("<li>{}</li>\n", html::escape(hazard));
  }
  return section("hazards", "Hazards", html + "</ul>\n");
}

std::string summary(const Explanation& e) {
  const analysis::Roofline& roofs = e.evidence.roofline;
  std::string text =
      fmt::format("The bound is {}: at least {}, with {:.0f} % of the SMs busy.",
                  roofs.bound().name, format_seconds(roofs.seconds()), 100 * roofs.busy);
  if (e.measured) {
    text += fmt::format(" Measured: {}, of which the bound explains {}.",
                        format_seconds(e.measured->seconds),
                        format_percent(roofs.seconds() / e.measured->seconds));
  }
  return section("summary", "Summary",
                 html::paragraph(text) +
                     (e.evidence.machine.is_public || roofs.flops == 0
                          ? ""
                          : html::paragraph("The " + peak_text(e) + ".")) +
                     (e.tiles.empty() ? "" : html::paragraph("Tiles: " + e.tiles + ".")) +
                     html::paragraph(fmt::format("Counted: {}, {}. Rates: {}.", e.sample, e.code,
                                                 source_of_rates(e.evidence.machine))));
}

std::string findings(const Explanation& e) {
  const std::string why_not =
      e.why_not_predicted.empty()
          ? ""
          : html::paragraph("The call is not predicted: " + e.why_not_predicted + ".");
  if (!e.diagnosis) return why_not;
  const analysis::diagnosis::Diagnosis& diagnosis = *e.diagnosis;
  std::string predicted = prediction_text(diagnosis.time, e.evidence.machine, e.errors) + ".";
  predicted.front() = 'P';
  std::string html = why_not + html::paragraph(predicted);
  if (diagnosis.findings.empty()) {
    return html + html::paragraph(
                      html::escape("No cause costs much: " + bound_text(diagnosis.time) + "."));
  }
  html += "<ol>\n";
  for (const auto& finding : diagnosis.findings) {
    html += fmt::format("<li><strong>{}</strong>, {} of the time: {}. Remedy: {}.<pre>{}</pre>",
                        html::escape(finding.name), format_percent(finding.cost),
                        html::escape(finding.detail), html::escape(finding.remedy),
                        html::escape(finding.code));
    if (!finding.rung.empty()) {
      html +=
          fmt::format("<em>{}</em>: {}", html::escape(finding.rung), html::escape(finding.idea));
    }
    html += "</li>\n";
  }
  return html + "</ol>\n";
}

std::string next(const Explanation& e) { return section("next", "What to do next", findings(e)); }

Cell exact(double value) { return {fmt::format("{:.4g}", value), value}; }

std::string traffic_table(const Explanation& e) {
  if (e.traffic.empty()) return "";
  DataTable table{{"elements", "from the tiles", "counted per k-step", "constant part"}, {}};
  for (const analysis::TrafficRow& row : e.traffic) {
    table.rows.push_back({row.name, row.expected.text, exact(row.per_k), exact(row.constant)});
  }
  return html::table(fmt::format("Elements moved per element of {}", e.result), table);
}

Cell time_cell(const analysis::Level& level) {
  if (!level.is_public) return "not public";
  return level.seconds > 0 ? Cell(format_seconds(level.seconds), level.seconds) : Cell("–");
}

std::string levels_table(const Explanation& e) {
  const analysis::Roofline& roofs = e.evidence.roofline;
  DataTable table{{"part", "moves, GB", "FLOP/byte", "minimum time"}, {}};
  for (const analysis::Level& level : roofs.levels) {
    const double intensity = level.flops_per_byte(roofs.flops);
    table.rows.push_back({level.name, level.bytes > 0 ? exact(level.bytes * 1e-9) : Cell("–"),
                          intensity > 0 ? exact(intensity) : Cell("–"), time_cell(level)});
  }
  return html::table("The minimum time of each part of the machine", table);
}

std::string traffic(const Explained& explained, const Explanation& e) {
  std::string html = traffic_table(e) + levels_table(e);
  for (const std::string& note : e.notes) html += html::paragraph(note);
  if (const auto figure = levels_roofline("roofline", explained.name, e)) {
    html += "<div class=\"figures\">\n" + html::figure(*figure) + "</div>\n";
  }
  return section("traffic", "Traffic and minimum times", html);
}

Cell limit_cell(int blocks) {
  return blocks == vgpu::no_limit ? Cell("–") : Cell(std::to_string(blocks), blocks);
}

/// The limits per block, if no other figures are published.
std::string limits(const analysis::OccupancyFacts& facts) {
  DataTable table{{"a block", "takes", "of"}, {}};
  table.rows = {{"threads", std::to_string(facts.threads), std::to_string(facts.max_threads)},
                {"shared memory, bytes", std::to_string(facts.static_shared + facts.dynamic_shared),
                 std::to_string(facts.max_shared)}};
  return section("occupancy", "Occupancy",
                 html::table("Resources of a block", table) +
                     html::paragraph("Registers and occupancy are not public."));
}

std::string occupancy(const Explanation& e) {
  const analysis::OccupancyFacts& facts = e.occupancy;
  if (!facts.is_public) return limits(facts);
  const vgpu::Occupancy& o = facts.occupancy;
  const std::int64_t shared = facts.static_shared + facts.dynamic_shared;
  DataTable table{{"limit", "takes", "blocks allowed"}, {}};
  table.rows = {{"registers", fmt::format("{} a thread", facts.registers.count),
                 limit_cell(o.limit_by_registers)},
                {"shared memory", fmt::format("{} bytes", shared), limit_cell(o.limit_by_shared)},
                {"warps", fmt::format("{} threads", facts.threads), limit_cell(o.limit_by_warps)},
                {"blocks", "–", limit_cell(o.limit_by_blocks)}};
  const std::string text = fmt::format(
      "{} block{} and {} warps per SM, {:.0f} % of its capacity; limited by {}. "
      "Registers: {}.",
      o.blocks, o.blocks == 1 ? "" : "s", o.warps, 100 * o.fraction, analysis::binding_limit(o),
      facts.registers.source);
  return section("occupancy", "Occupancy",
                 html::table("Blocks per SM", table) + html::paragraph(text));
}

std::string mix_table(const std::string& caption, const analysis::InstructionMix& mix) {
  DataTable table{{"instructions", "count", "share"}, {}};
  for (const analysis::MixPart& part : mix.parts) {
    const double share = mix.all > 0 ? part.count / mix.all : 0;
    table.rows.push_back({part.name,
                          {format_count(static_cast<std::uint64_t>(part.count)), part.count},
                          {format_percent(share), share}});
  }
  return html::table(caption, table);
}

std::string instructions(const Explanation& e) {
  std::string html = mix_table("PTX, as executed in the sample", e.ptx);
  if (e.machine_code) {
    html += mix_table("Machine code, as listed where most multiply-adds are", *e.machine_code);
  }
  return section("instructions", "Instructions", html);
}

std::string source(const Explained& explained, const Traces& traces) {
  if (explained.rung == nullptr) {
    return section(
        "source", "Source",
        source_section(explained.name, explained.source, explained.file, explained.lines));
  }
  return rung_section(*explained.rung, {explained.rung}, {}, traces, RungLinks::sections);
}

}  // namespace

std::string explanation_page(const Explained& explained, const Explanation& e, const Traces& traces,
                             const std::vector<Stepped>& steps) {
  const std::string moving =
      steps.empty() ? "" : section("steps", "Steps of a warp", steppers(steps));
  return whole_page("Rung: the performance of " + explained.name,
                    html::paragraph(explained.problem) + navigation(explained, !steps.empty()),
                    hazards(explained) + summary(e) + next(e) + moving + traffic(explained, e) +
                        occupancy(e) + instructions(e) + source(explained, traces) +
                        (steps.empty() ? "" : stepper_script()));
}

}  // namespace rung
