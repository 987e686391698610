#include "tools/report/bench_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "core/dtype.hpp"
#include "tools/measure/quiet_machine.hpp"
#include "tools/report/table.hpp"

namespace rung {
namespace {

/// "1.48x": the other's time divided by ours; "~1.00x" if the noise exceeds the difference from 1.
std::string ratio_text(double ratio, double margin) {
  const bool is_noise = std::abs(ratio - 1) <= margin;
  return fmt::format("{}{:.{}f}x", is_noise ? "~" : "", ratio, ratio < 0.1 ? 3 : 2);
}

/// "2.73 ms ±4%": half the interquartile range, relative to the median.
std::string time_text(const Summary& seconds) {
  std::string text = format_seconds(seconds.median);
  text.erase(text.find_last_not_of(' ') + 1);
  return fmt::format("{} ±{:.0f}%", text, 50 * seconds.spread());
}

std::string best_peer(const BenchRow& row) {
  const auto fastest = std::min_element(
      row.peers.begin(), row.peers.end(), [](const Comparison& left, const Comparison& right) {
        // Peers that were not timed are last.
        return std::pair(left.ratio == 0, left.ratio) < std::pair(right.ratio == 0, right.ratio);
      });
  if (fastest == row.peers.end() || fastest->ratio == 0) return "-";
  return fmt::format("{} {}", ratio_text(fastest->ratio, fastest->margin), fastest->peer);
}

struct Column {
  std::string heading;
  std::function<std::string(const BenchRow&)> cell;  // for a row that was timed
};

/// A rate above the ceiling by more than this factor is not due to rounding or the clock.
constexpr double max_of_ceiling = 1.05;

bool ceiling_is_noise(const BenchRow& row) {
  return std::isinf(row.ceiling_margin) || row.ceiling_ratio > max_of_ceiling;
}

/// "87.1%"; "~87.1%" if there are too few samples, or their variation is too large.
std::string ceiling_of(const BenchResult& result, const BenchRow& row) {
  if (result.ceiling.empty()) return "-";
  return fmt::format("{}{:.1f}%", ceiling_is_noise(row) ? "~" : "", 100 * row.ceiling_ratio);
}

std::string previous_of(const BenchRow& row) {
  return row.previous.empty() ? "-" : ratio_text(row.previous_ratio, row.previous_margin);
}

/// Errors are shown if there is something to compare: compute modes or families of elements.
bool shows_errors(const BenchResult& result) {
  return std::ranges::any_of(result.rows, [&](const BenchRow& row) {
    const bool is_special =
        row.compute_mode != ComputeMode::standard || result.options.family != Family::symmetric;
    return row.errors && is_special;
  });
}

/// The largest error in u |A||B|, and the normwise error.
void add_errors(std::vector<Column>& columns, const BenchResult& result) {
  if (!shows_errors(result)) return;
  const auto column = [&](const char* heading, const char* format, double ElementErrors::* error) {
    columns.push_back({heading, [=](const BenchRow& row) -> std::string {
                         if (!row.errors) return "-";
                         return fmt::format(fmt::runtime(format), *row.errors.*error);
                       }});
  };
  column("largest", "{:.2g} u", &ElementErrors::largest);
  column("normwise", "{:.1e}", &ElementErrors::normwise);
}

std::vector<Column> cpu_columns(const BenchResult& result) {
  const double work = result.counts_flops ? result.flops : result.bytes;
  std::vector<Column> columns = {
      {"time", [](const BenchRow& row) { return time_text(row.seconds); }},
      {result.counts_flops ? "GFLOP/s" : "GB/s",
       [work](const BenchRow& row) { return format_rate(work / row.seconds.median * 1e-9); }},
      {"ceiling", [&](const BenchRow& row) { return ceiling_of(result, row); }},
      {"previous", previous_of},
      {"best peer", best_peer},
      {"error",
       [](const BenchRow& row) { return fmt::format("{:.2g}", row.verdict.max_error_ratio); }},
  };
  add_errors(columns, result);
  return columns;
}

const BenchRow* fastest_peer(const BenchResult& result) {
  const BenchRow* fastest = nullptr;
  for (const BenchRow& row : result.rows) {
    if (row.kind != Kind::peer || !row.timed()) continue;
    if (fastest == nullptr || row.seconds.median < fastest->seconds.median) fastest = &row;
  }
  return fastest;
}

// Latency, effective bandwidth, rate, and the ratio to the vendor's library.
std::vector<Column> gpu_columns(const BenchResult& result) {
  std::vector<Column> columns = {
      {"time", [](const BenchRow& row) { return time_text(row.seconds); }}};
  const auto in_graph = [](const BenchRow& row) { return row.graph_seconds.count > 0; };
  if (std::any_of(result.rows.begin(), result.rows.end(), in_graph)) {
    columns.push_back({"in graph", [in_graph](const BenchRow& row) {
                         return in_graph(row) ? format_seconds(row.graph_seconds.median) : "-";
                       }});
  }
  columns.push_back({"GB/s", [&](const BenchRow& row) {
                       return format_rate(result.bytes / row.seconds.median * 1e-9);
                     }});
  if (result.counts_flops) {
    columns.push_back(
        {is_integer(result.options.dtype) ? "TOP/s" : "TFLOP/s", [&](const BenchRow& row) {
           return format_rate(result.flops / row.seconds.median * 1e-12);
         }});
  }
  columns.push_back({"ceiling", [&](const BenchRow& row) { return ceiling_of(result, row); }});
  columns.push_back({"previous", previous_of});
  if (const BenchRow* peer = fastest_peer(result)) {
    columns.push_back({"vs " + peer->name, [peer](const BenchRow& row) -> std::string {
                         for (const Comparison& comparison : row.peers) {
                           if (comparison.peer != peer->name || comparison.ratio == 0) continue;
                           return ratio_text(comparison.ratio, comparison.margin);
                         }
                         return "-";
                       }});
  }
  add_errors(columns, result);
  return columns;
}

std::string chosen_kernel(const BenchRow& row) {
  return row.chose.substr(row.chose.rfind('/') + 1);
}

/// `names_choice`: the library's row has the kernel that it chose.
void add(Table& table, const std::vector<Column>& columns, const BenchRow& row, bool names_choice) {
  const std::string label =
      row.chose.empty() || !names_choice ? row.slug : "library: " + chosen_kernel(row);
  if (!row.timed()) {
    table.add_note(label,
                   row.wrong() ? "WRONG: " + row.verdict.message : "skipped: " + row.skipped);
    return;
  }
  std::vector<std::string> cells = {label};
  for (const Column& column : columns) cells.push_back(column.cell(row));
  table.add_row(std::move(cells));
}

std::string table_of(const BenchResult& result, bool on_gpu) {
  const std::vector<Column> columns = on_gpu ? gpu_columns(result) : cpu_columns(result);
  std::vector<std::string> headings = {"rung"};
  for (const Column& column : columns) headings.push_back(column.heading);
  const auto table_with = [&](bool names_choice) {
    Table table(headings);
    for (const BenchRow& row : result.rows) add(table, columns, row, names_choice);
    return table;
  };
  const Table table = table_with(true);
  return table.has_whole_names() ? table.str() : table_with(false).str();
}

// "A 4096x512 (ld 512), …".
std::string operands(const BenchResult& result) {
  const auto& [m, n, k] = result.size;
  const auto& ld = result.leading_dimensions;
  if (ld.size() != 3) return "";
  return fmt::format("A {}x{} (ld {}), B {}x{} (ld {}), C {}x{} (ld {})\n", m, k, ld[0], k, n,
                     ld[1], m, n, ld[2]);
}

std::string noise(const BenchResult& result) {
  const BenchRow* worst = nullptr;
  std::size_t fewest = 0;
  std::vector<double> spreads;
  for (const BenchRow& row : result.rows) {
    if (!row.timed()) continue;
    fewest = fewest == 0 ? row.seconds.count : std::min(fewest, row.seconds.count);
    spreads.push_back(row.seconds.spread());
    if (worst == nullptr || row.seconds.spread() > worst->seconds.spread()) worst = &row;
  }
  if (worst == nullptr) return "";
  const bool by_device = std::any_of(result.rows.begin(), result.rows.end(),
                                     [](const BenchRow& row) { return row.own_clock; });
  return fmt::format(
      "medians of {} or more interleaved samples; quartiles span {:.1f}% "
      "(median),\n{:.1f}% at worst ({}); 2.00x: twice as fast as the other\n{}{}",
      fewest, 100 * summarize(spreads).median, 100 * worst->seconds.spread(), worst->slug,
      result.device.starts_with("cpu")
          ? "error: the largest of all elements, as a multiple of its bound; right: at most 1\n"
          : "",
      by_device ? "by the GPU's own clock, except where the CPU does part of the work\n" : "");
}

/// One line if other programs used the CPUs while they were timed.
std::string load(const BenchResult& result) {
  if (result.load_by_others <= disturbing_load) return "";
  const int processors = result.processors;
  return fmt::format("load: other programs used {:.1f} of {} processor{}; the figures are rough\n",
                     result.load_by_others, processors, processors == 1 ? "" : "s");
}

/// Warnings about results that may mislead, one per line.
/// True if threads of the bench waited for processors that other programs used. Peers whose threads
/// wait for each other are then many times slower, in each sample.
bool lacked_processors(const BenchResult& result) {
  constexpr double tolerated = 0.5;  // processors
  return result.load_by_others > disturbing_load &&
         result.options.threads + result.load_by_others > result.processors + tolerated;
}

BenchResult with_uncertain_ratios(BenchResult result) {
  constexpr double any = std::numeric_limits<double>::infinity();
  for (BenchRow& row : result.rows) {
    row.previous_margin = row.ceiling_margin = any;
    for (Comparison& peer : row.peers) peer.margin = any;
  }
  return result;
}

std::string warnings(const BenchResult& result) {
  std::string over, text;
  bool any_noise = false;
  for (const BenchRow& row : result.rows) {
    if (!row.timed()) continue;
    if (!result.ceiling.empty() && row.ceiling_ratio > max_of_ceiling) {
      over +=
          fmt::format("{}{} {:.0f}%", over.empty() ? "" : ", ", row.slug, 100 * row.ceiling_ratio);
    }
    const auto is_noise = [](double ratio, double margin) {
      return ratio > 0 && std::abs(ratio - 1) <= margin;
    };
    any_noise = any_noise || is_noise(row.previous_ratio, row.previous_margin) ||
                (!result.ceiling.empty() && ceiling_is_noise(row));
    for (const Comparison& peer : row.peers) {
      any_noise = any_noise || is_noise(peer.ratio, peer.margin);
    }
  }
  if (!over.empty()) {
    text += wrap("warning: above the ceiling: " + over +
                     "; the machine was busy while one of them was measured, or operands came from "
                     "a cache",
                 0);
  }
  if (any_noise) {
    text +=
        "~: uncertain: fewer than 5 samples, their quartiles span more than 25%, no\n"
        "significant difference from 1, or others used the processors\n";
  }
  return text;
}

// "host, per call: library 2.31 us, cublas 4.02 us".
std::string host(const BenchResult& result) {
  std::string text;
  for (const BenchRow& row : result.rows) {
    if (row.kind == Kind::rung || row.host_seconds.count == 0) continue;
    text += fmt::format("{} {} {}", text.empty() ? "host, per call:" : ",", row.name,
                        format_seconds(row.host_seconds.median));
  }
  return text.empty() ? text : text + "\n";
}

std::string verdict(const BenchRow& row) {
  if (!row.skipped.empty()) return "skipped: " + row.skipped;
  if (row.wrong()) return "WRONG: " + row.verdict.message;
  if (!row.chose.empty()) return "right; it chose " + chosen_kernel(row);
  return row.bottleneck.empty() ? "right" : "right; bottleneck: " + row.bottleneck;
}

// The temperature of cold operands depends on the size of the memory through which they rotate.
std::string temperature(const BenchResult& result) {
  if (!result.options.cold) return "warm operands";
  return fmt::format("cold operands ({} sets, {:.3g} MB)", result.operand_sets,
                     result.bytes * static_cast<double>(result.operand_sets) * 1e-6);
}

std::string verdicts(const BenchResult& result) {
  const auto is_ours = [](const BenchRow& row) {
    return row.kind == Kind::rung || !row.chose.empty();
  };
  std::size_t width = 0;
  for (const BenchRow& row : result.rows) {
    if (is_ours(row)) width = std::max(width, row.slug.size());
  }
  std::string text;
  for (const BenchRow& row : result.rows) {
    if (!is_ours(row)) continue;
    // The name precedes the first line, which is indented less by its width.
    const std::string lines = wrap(verdict(row), width + 2);
    text += fmt::format("{:<{}}", row.slug, width + 2) + lines.substr(width + 2);
  }
  return text;
}

}  // namespace

std::string describe(const BenchResult& result) {
  const auto& [dtype, threads, a_transposed, b_transposed, alpha, beta, cold, mode, batch, groups,
               zipf, family, epilogue, block_scales, weight_bits, weight_group] = result.options;
  const auto& [m, n, k] = result.size;
  if (result.op != "gemm") return fmt::format("{} {} {}", result.op, name(dtype), n);
  std::string text = fmt::format("gemm {} {}x{}x{} {}{}", name(dtype), m, n, k,
                                 a_transposed ? 't' : 'n', b_transposed ? 't' : 'n');
  if (batch != 1) text += fmt::format(" batch={}", batch);
  if (groups != 0) text += fmt::format(" groups={}{}", groups, zipf ? " skew=zipf" : "");
  if (epilogue != EpilogueParts{}) text += fmt::format(" epilogue={}", name(epilogue));
  if (block_scales) text += " scales=block";
  if (weight_bits > 0) text += fmt::format(" weights=int{} group={}", weight_bits, weight_group);
  if (alpha != 1) text += fmt::format(" alpha={}", alpha);
  if (beta != 0) text += fmt::format(" beta={}", beta);
  if (mode != ComputeMode::standard) text += fmt::format(" math={}", name(mode));
  if (family != Family::symmetric) text += fmt::format(" family={}", name(family));
  return text;
}

std::string bench_table(const BenchResult& measured) {
  const BenchResult result =
      lacked_processors(measured) ? with_uncertain_ratios(measured) : measured;
  const std::string_view unit = result.counts_flops ? "GFLOP/s" : "GB/s";
  const int threads = result.options.threads;
  std::string text;
  if (result.device.starts_with("virtual")) {
    text = "times are those of the simulation on this CPU; they say nothing about a GPU\n";
  }
  text += describe(result);
  const bool on_gpu = result.device.starts_with("gpu");
  if (!on_gpu) {
    text += fmt::format(", {} thread{}", threads, threads == 1 ? "" : "s");
  }
  text += fmt::format(", {}\n", temperature(result));
  text += cut("on " + result.device, text_width) + "\n";
  if (on_gpu) text += operands(result);
  if (!result.ceiling.empty()) {
    text += fmt::format("ceiling: {}, {} {}\n", result.ceiling,
                        format_rate(result.ceiling_rate * 1e-9), unit);
  }
  if (shows_errors(result)) {
    text += "largest: |error| / |A||B| in units of C's roundoff; normwise: ||error|| / ||AB||\n";
  }
  return text + "\n" + table_of(result, on_gpu) + "\n" + noise(result) + load(result) +
         warnings(result) + host(result) + "\n" + verdicts(result);
}

}  // namespace rung
