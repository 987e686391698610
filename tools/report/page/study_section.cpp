#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tools/report/bench_results.hpp"
#include "tools/report/numbers.hpp"
#include "tools/report/page/html.hpp"
#include "tools/report/page/sections.hpp"
#include "tools/report/utf8.hpp"

namespace rung {
namespace {

Cell number_cell(std::string text, std::optional<double> value) {
  return value ? Cell(std::move(text), value) : Cell("–");
}

/// "1.38×": the other's time divided by ours.
Cell times_cell(std::optional<double> ratio) {
  return ratio ? Cell(format_ratio(ratio) + "×", ratio) : Cell("–");
}

/// "1.38× 03"
Cell gain_of(const Result& rung) {
  if (!rung.previous_ratio) return "–";
  const std::string previous = slug_of(rung.previous);
  const std::string text =
      fmt::format("{}× {}", format_ratio(rung.previous_ratio), short_name(previous));
  return {text, rung.previous_ratio};
}

Cell ceiling_of(const Result& result) {
  return result.ceiling_ratio ? Cell(format_percent(*result.ceiling_ratio), result.ceiling_ratio)
                              : Cell("–");
}

DataTable ladder_table(const Study& study, const std::vector<const Result*>& ladder) {
  const std::vector<std::string> peers = study.peers();
  DataTable table{{"rung", "time", study.unit(), "speed-up", "of the ceiling"}, {}};
  for (const std::string& peer : peers) table.headings.push_back("vs " + peer);
  for (const Result* rung : ladder) {
    std::vector<Cell> row = {slug_of(rung->rung),
                             {format_time(*rung->seconds), rung->seconds},
                             {format_three(rung->rate()), rung->rate()},
                             gain_of(*rung),
                             ceiling_of(*rung)};
    for (const std::string& peer : peers) {
      row.push_back(times_cell(ratio_to(*rung, peer)));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::vector<const Result*> of_kind(const std::vector<const Result*>& results, bool square) {
  std::vector<const Result*> found;
  for (const Result* result : results) {
    if (is_square(*result) == square) found.push_back(result);
  }
  return found;
}

void add_means(DataTable& table, const std::vector<const Result*>& library,
               const std::vector<std::string>& peers, bool in_graph) {
  for (const bool square : {true, false}) {
    const auto results = of_kind(library, square);
    if (results.size() < 2) continue;
    const bool is_gemm = results.front()->m != 0;
    std::vector<Cell> row = {fmt::format("{}geometric mean", !is_gemm ? ""
                                                             : square ? "square, "
                                                                      : "oblong, ")};
    row.resize(in_graph ? 6 : 5, Cell(""));
    for (const std::string& peer : peers) {
      row.push_back(times_cell(mean_ratio(results, peer)));
    }
    table.rows.push_back(std::move(row));
  }
}

DataTable library_table(const Study& study, const std::vector<const Result*>& library) {
  const std::vector<std::string> peers = study.peers();
  const bool in_graph = std::any_of(library.begin(), library.end(), [](const Result* result) {
    return result->graph_seconds.has_value();
  });
  DataTable table{{"size", "rung", "time"}, {}};
  if (in_graph) table.headings.push_back("in a graph");
  table.headings.insert(table.headings.end(), {study.unit(), "of the ceiling"});
  for (const std::string& peer : peers) table.headings.push_back("vs " + peer);
  for (const Result* result : library) {
    std::vector<Cell> row = {size_name(*result),
                             slug_of(result->chose),
                             {format_time(*result->seconds), result->seconds}};
    if (in_graph) {
      const auto graph = result->graph_seconds;
      row.push_back(number_cell(graph ? format_time(*graph) : "", graph));
    }
    row.push_back({format_three(result->rate()), result->rate()});
    row.push_back(ceiling_of(*result));
    for (const std::string& peer : peers) {
      row.push_back(times_cell(ratio_to(*result, peer)));
    }
    table.rows.push_back(std::move(row));
  }
  add_means(table, library, peers, in_graph);
  return table;
}

std::string troubles(const Study& study) {
  std::string html;
  for (const Result* entry : study.entries()) {
    if (entry->timed()) continue;
    const std::string why =
        !entry->wrong.empty() ? "WRONG: " + entry->wrong : "skipped: " + entry->skipped;
    html += html::element("li", fmt::format("{} at {}: {}", entry->rung, size_name(*entry), why));
  }
  return html.empty() ? "" : "<ul>\n" + html + "</ul>\n";
}

/// "12 rungs, from 500 to 51 748 GFLOP/s at 4096³ (103 times), 79 % of the ceiling."
std::string ladder_sentence(const Study& study) {
  const auto ladder = study.ladder();
  if (ladder.size() < 2) return "";
  const auto best = *std::max_element(ladder.begin(), ladder.end(),
                                      [](auto* a, auto* b) { return a->rate() < b->rate(); });
  std::string text =
      fmt::format(" {} rungs, from {} to {} {} at {} ({} times)", ladder.size(),
                  format_three(ladder.front()->rate()), format_three(best->rate()), study.unit(),
                  size_name(*best), format_three(best->rate() / ladder.front()->rate()));
  if (best->ceiling_ratio)
    text += fmt::format(", {} of the ceiling", format_percent(*best->ceiling_ratio));
  return text + ".";
}

std::string library_sentence(const Study& study) {
  const auto library = study.library();
  std::string text;
  for (const std::string& peer : study.peers()) {
    const auto mean = mean_ratio(library, peer);
    if (!mean || library.size() < 2) continue;
    text += fmt::format("{}{} times the speed of {}", text.empty() ? "" : ", ", format_ratio(mean),
                        peer);
  }
  if (text.empty()) return "";
  return fmt::format(" The library over {} sizes, by geometric mean: {}.", library.size(), text);
}

}  // namespace

std::string summary_section(const std::vector<Study>& studies, const Results& results) {
  std::size_t timed = 0, wrong = 0;
  for (const Result& entry : results.entries) {
    timed += entry.timed() ? 1 : 0;
    wrong += entry.wrong.empty() ? 0 : 1;
  }
  std::string html = "<section id=\"summary\">\n<h2>Summary</h2>\n";
  for (const Study& study : studies) {
    html += fmt::format("<p><strong>{}</strong> on {}.{}{}</p>\n", html::escape(study.name()),
                        html::escape(study.first().device), html::escape(ladder_sentence(study)),
                        html::escape(library_sentence(study)));
  }
  html += html::paragraph(fmt::format(
      "{} measurements, each of a kernel that was verified on the same problem before it was "
      "timed; {} wrong.",
      timed, wrong));
  return html + "</section>\n";
}

std::vector<Figure> study_figures(const Study& study, const std::string& prefix,
                                  const Results& results, const Traces& traces) {
  std::vector<Figure> figures;
  const auto add = [&](std::optional<Figure> figure) {
    if (figure) figures.push_back(std::move(*figure));
  };
  add(ladder_bars(prefix + "-ladder", study));
  add(roofline(prefix + "-roofline", study, results, traces));
  add(speed_by_size(prefix + "-sizes", study));
  return figures;
}

std::string study_section(const Study& study, std::size_t number, const Results& results,
                          const Traces& traces) {
  const std::string id = fmt::format("study{}", number);
  std::string html = fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n<p class=\"soft\">{}</p>\n", id,
                                 html::escape(study.name()), html::escape(study.first().device));
  if (const auto ladder = study.ladder(); !ladder.empty()) {
    html += html::sortable_table(fmt::format("The ladder at {}", size_name(*ladder.front())),
                                 ladder_table(study, ladder));
  }
  html += "<div class=\"figures\">\n";
  for (const Figure& figure : study_figures(study, id, results, traces))
    html += html::figure(figure);
  html += "</div>\n";
  if (const auto library = study.library(); !library.empty()) {
    html += html::sortable_table("The library, with the rung that it selected",
                                 library_table(study, library));
  }
  return html + troubles(study) + "</section>\n";
}

std::vector<std::vector<const Study*>> by_device(const std::vector<Study>& studies) {
  std::vector<std::vector<const Study*>> groups;
  std::map<std::pair<std::string_view, std::string_view>, std::size_t> places;
  for (const Study& study : studies) {
    const Result& first = study.first();
    const auto place = places.try_emplace({first.device, first.op}, groups.size()).first;
    if (place->second == groups.size()) groups.emplace_back();
    groups[place->second].push_back(&study);
  }
  return groups;
}

}  // namespace rung
