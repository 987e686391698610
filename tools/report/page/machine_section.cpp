#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/report/numbers.hpp"
#include "tools/report/page/html.hpp"
#include "tools/report/page/sections.hpp"

namespace rung {
namespace {

std::string shown(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return format_three(value.get<double>());
  if (value.is_number()) return format_grouped(value.get<double>());
  return value.is_null() ? "–" : value.dump();
}

Cell cell_of(const Json& value) {
  return value.is_number() ? Cell(shown(value), value.get<double>()) : Cell(shown(value));
}

/// The leaves of nested objects, named as in "gpu, ceilings, memory_read".
void add_leaves(DataTable& table, const Json& json, const std::string& prefix) {
  for (const auto& [key, value] : json.items()) {
    if (key == "peers") continue;
    const std::string name = prefix.empty() ? key : prefix + ", " + key;
    if (value.is_object()) {
      add_leaves(table, value, name);
    } else {
      table.rows.push_back({name, cell_of(value)});
    }
  }
}

DataTable peers_table(const Json& machine) {
  DataTable table{{"peer", "version", "kernels", "note"}, {}};
  if (!machine.contains("peers")) return table;
  for (const auto& [name, peer] : machine["peers"].items()) {
    const auto field = [&](const char* key) {
      return Cell(peer.contains(key) ? shown(peer[key]) : "–");
    };
    table.rows.push_back({name, field("version"), field("kernels"), field("note")});
  }
  return table;
}

}  // namespace

std::string machine_section(const Results& results) {
  std::string html = "<section id=\"machine\">\n<h2>Machine</h2>\n";
  for (const Source& source : results.sources) {
    const std::string file = source.file.substr(source.file.rfind('/') + 1);
    DataTable facts{{"", "value"}, {}};
    add_leaves(facts, *source.machine, "");
    html += fmt::format("<h3>{}</h3>\n", html::escape(file));
    const DataTable peers = peers_table(*source.machine);
    if (!peers.rows.empty()) html += html::table("Peers", peers);
    html += fmt::format("<details><summary>All that was recorded</summary>\n{}</details>\n",
                        html::table("Rates in GFLOP/s and GB/s, sizes in bytes", facts));
  }
  return html + "</section>\n";
}

std::string method_section() {
  return "<section id=\"method\">\n<h2>Method</h2>\n" +
         html::paragraph(
             "Every kernel is verified on the same problem before it is timed: each element "
             "against "
             "its a priori error bound, small integers exactly, inputs and guards unchanged.") +
         html::paragraph(
             "Samples of rungs, the library, its peers and the ceiling's kernel are interleaved, "
             "forwards and backwards, so that a change of clock affects all alike. Times are "
             "medians. Ratios are computed per round, and their median is shown: 2.00× vs cublas "
             "means half of its time; of the ceiling, 100 % is its rate. Ceilings are measured, "
             "not taken from a data sheet. On a GPU, calls are "
             "timed back to back, as a caller sees them; short ones also inside a graph.") +
         html::paragraph(
             "Counters per line and access maps come from the virtual GPU: it runs the same "
             "kernel, compiled to PTX, on a small problem. A request is a warp instruction, a "
             "sector is 32 bytes of global memory, a wavefront is a pass through the 32 banks of "
             "shared memory.") +
         "</section>\n";
}

}  // namespace rung
