#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "tools/report/lines.hpp"
#include "tools/report/maps/access_map.hpp"
#include "tools/report/maps/tile_picture.hpp"
#include "tools/report/numbers.hpp"
#include "tools/report/page/html.hpp"
#include "tools/report/page/sections.hpp"
#include "tools/report/table.hpp"

namespace rung {
namespace {

using vgpu::LineCounters;

/// Traces by source line: of the rung's own file, and of other files.
struct ByPlace {
  std::map<int, LineCounters> lines;
  std::vector<LineCounters> others;  // hottest first
  std::uint64_t instructions = 0;
};

ByPlace by_place(const std::vector<LineCounters>& lines, const std::string& file) {
  ByPlace places;
  for (const LineCounters& line : lines) {
    places.instructions += line.instructions;
    const std::string where = line.where.substr(line.where.rfind('/') + 1);
    const std::size_t colon = where.rfind(':');
    int number = 0;
    if (colon != std::string::npos) {
      std::from_chars(where.data() + colon + 1, where.data() + where.size(), number);
    }
    if (number > 0 && where.substr(0, colon) == file) {
      places.lines[number] += line;
    } else {
      places.others.push_back(line);
      places.others.back().where = where.empty() ? "no line" : where;
    }
  }
  vgpu::hot_first(places.others);
  return places;
}

std::string count(std::uint64_t value) {
  if (value == 0) return "<td></td>";
  return fmt::format("<td><data value=\"{}\">{}</data></td>", value, format_count(value));
}

std::string counter_cells(const LineCounters& line, std::uint64_t all) {
  if (line.instructions == 0) return "<td></td><td></td><td></td>";
  const double share = static_cast<double>(line.instructions) / static_cast<double>(all);
  return fmt::format(
      "<td class=\"share\" style=\"--part:{:.1f}%\"><data value=\"{}\">{:.1f} %</data></td>{}{}",
      100 * share, line.instructions, 100 * share, count(line.sectors()),
      count(line.shared_wavefronts));
}

std::string source_table(const std::string& name, std::string_view source, const ByPlace& places,
                         bool traced) {
  std::string html = fmt::format(
      "<table class=\"source\">\n<caption>{}</caption>\n<thead><tr><th scope=\"col\">line</th>{}"
      "<th scope=\"col\">source</th></tr></thead>\n<tbody>\n",
      traced ? "Share of warp instructions, sectors of global memory, wavefronts of shared memory"
             : "Source",
      traced ? "<th scope=\"col\">instr.</th><th scope=\"col\">sectors</th>"
               "<th scope=\"col\">wavefronts</th>"
             : "");
  int number = 0;
  for (const std::string_view line : lines_of(source)) {
    const auto found = places.lines.find(++number);
    const bool hot =
        found != places.lines.end() && 20 * found->second.instructions > places.instructions;
    html += fmt::format("<tr{}><td>{}</td>", hot ? " class=\"hot\"" : "", number);
    if (traced) {
      html += counter_cells(found == places.lines.end() ? LineCounters() : found->second,
                            places.instructions);
    }
    html += fmt::format("<td><code>{}</code></td></tr>\n", html::escape(line));
  }
  return html::scrollable("Source of " + name, html + "</tbody>\n</table>\n");
}

std::string others_table(const ByPlace& places) {
  if (places.others.empty()) return "";
  constexpr std::size_t most = 12;
  DataTable table{{"line", "instructions", "sectors", "wavefronts"}, {}};
  const auto cell = [](std::uint64_t value) {
    return value == 0 ? Cell("") : Cell(format_count(value), static_cast<double>(value));
  };
  for (std::size_t i = 0; i < std::min(places.others.size(), most); ++i) {
    const LineCounters& line = places.others[i];
    table.rows.push_back(
        {line.where, cell(line.instructions), cell(line.sectors()), cell(line.shared_wavefronts)});
  }
  return html::table("Lines of included headers, hottest first", table);
}

std::string fact(std::string_view name, std::string_view text) {
  if (text.empty() || text == "nothing") return "";
  return fmt::format("<dt>{}</dt><dd>{}</dd>\n", name, html::escape(text));
}

std::string from_of(const RungInfo& rung, const std::vector<const RungInfo*>& known,
                    RungLinks links) {
  const std::string id = rung.op + "/" + rung.backend + "/" + rung.from;
  const auto is = [&](const RungInfo* other) { return other->id == id; };
  if (std::none_of(known.begin(), known.end(), is)) return fact("from", rung.from);
  return fmt::format("<dt>from</dt><dd>{}</dd>\n", links == RungLinks::pages
                                                       ? html::link_to(rung_page(id), rung.from)
                                                       : html::link(rung_anchor(id), rung.from));
}

/// The measurements, one line per study.
std::string measured(const RungInfo& rung, const std::vector<Study>& studies) {
  std::string html;
  for (const Study& study : studies) {
    for (const Result* result : study.ladder()) {
      if (result->rung != rung.id) continue;
      html += fact("measured", fmt::format("{} at {}: {}, {} {}", study.name(), size_name(*result),
                                           format_time(*result->seconds),
                                           format_three(result->rate()), study.unit()));
    }
  }
  return html;
}

std::string counters_of(const RungTrace& trace) {
  const vgpu::Counters& c = trace.counters;
  const auto row = [](const char* what, std::uint64_t requests, std::uint64_t units) {
    const double each =
        requests == 0 ? 0 : static_cast<double>(units) / static_cast<double>(requests);
    return std::vector<Cell>{what,
                             {format_count(requests), static_cast<double>(requests)},
                             {format_count(units), static_cast<double>(units)},
                             {requests == 0 ? "–" : fmt::format("{:.2f}", each), each}};
  };
  DataTable table{{"", "requests", "sectors or wavefronts", "each"}, {}};
  table.rows = {row("global loads", c.global_load_requests, c.global_load_sectors),
                row("global stores", c.global_store_requests, c.global_store_sectors),
                row("shared loads", c.shared_load_requests, c.shared_load_wavefronts),
                row("shared stores", c.shared_store_requests, c.shared_store_wavefronts)};
  if (c.bulk_loads > 0) table.rows.push_back(row("bulk loads", c.bulk_loads, c.bulk_load_sectors));
  if (c.bulk_stores > 0) {
    table.rows.push_back(row("bulk stores", c.bulk_stores, c.bulk_store_sectors));
  }
  std::string text =
      fmt::format("{}; {}. {} warp instructions, {} barriers", trace.device, trace.code,
                  format_count(c.instructions), format_count(c.barriers));
  text += fmt::format(", {} FLOP per byte of sectors.", format_three(trace.intensity()));
  if (!trace.tile.empty()) text += fmt::format(" Tile: {}, without split-K.", trace.tile);
  return html::table("On the virtual GPU, " + trace.problem, table) +
         fmt::format("<p class=\"soft\">{}</p>\n", html::escape(text));
}

std::string pictures_of(const std::string& anchor, const RungTrace& trace) {
  std::string html = "<div class=\"figures\">\n";
  if (trace.tiles) html += html::figure(draw_tile_map(anchor + "-tile", *trace.tiles));
  for (std::size_t i = 0; i < trace.accesses.size(); ++i) {
    const DrawnAccess& drawn = trace.accesses[i];
    html += html::figure(access_map(fmt::format("{}-access{}", anchor, i), drawn.access,
                                    drawn.what + " at " + drawn.where));
  }
  return html + "</div>\n";
}

}  // namespace

std::string rung_anchor(std::string_view id) {
  std::string anchor = "rung-" + std::string(id);
  std::replace(anchor.begin(), anchor.end(), '/', '-');
  return anchor;
}

std::string rung_page(std::string_view id) {
  return rung_anchor(id).substr(std::string_view("rung-").size()) + ".html";
}

std::string source_section(const std::string& name, std::string_view source) {
  return source_table(name, source, {}, false);
}

std::string source_section(const std::string& name, std::string_view source,
                           const std::string& file, const std::vector<LineCounters>& lines) {
  const ByPlace places = by_place(lines, file);
  return source_table(name, source, places, !lines.empty()) + others_table(places);
}

std::string rung_section(const RungInfo& rung, const std::vector<const RungInfo*>& known,
                         const std::vector<Study>& studies, const Traces& traces, RungLinks links) {
  const std::string anchor = rung_anchor(rung.id);
  std::string html =
      fmt::format("<section id=\"{}\">\n<h3>{}</h3>\n", anchor, html::escape(rung.id));
  html += "<dl>\n" + fact("idea", rung.idea) + from_of(rung, known, links) +
          fact("removes", rung.removes) + fact("bottleneck", rung.bottleneck) +
          fact("needs", rung.needs) + measured(rung, studies) + "</dl>\n";
  const auto found = traces.find(rung.id);
  const bool traced = found != traces.end() && found->second.why_not.empty();
  ByPlace places;
  if (traced) {
    places =
        by_place(found->second.lines, rung.slug + (rung.backend == "metal" ? ".metal" : ".cu"));
    html += counters_of(found->second) + pictures_of(anchor, found->second);
  } else if (found != traces.end() && rung.backend != "cpu") {
    html += html::paragraph("Not traced: " + found->second.why_not + ".");
  }
  return html + source_table(rung.id, rung.source, places, traced) + others_table(places) +
         "</section>\n";
}

}  // namespace rung
