#include "report/bench_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/table.hpp"

namespace rung {
namespace {

std::string best_peer(const BenchRow& row) {
  const auto fastest = std::min_element(
      row.peers.begin(), row.peers.end(), [](const Comparison& left, const Comparison& right) {
        // Not timed: last.
        return std::pair(left.ratio == 0, left.ratio) < std::pair(right.ratio == 0, right.ratio);
      });
  if (fastest == row.peers.end() || fastest->ratio == 0) return "-";
  const int digits = fastest->ratio < 0.1 ? 3 : 2;
  return fmt::format("{:.{}f} {}", fastest->ratio, digits, fastest->peer);
}

void add(Table& table, const BenchResult& result, const BenchRow& row) {
  const std::string label =
      row.chose.empty() ? row.slug : "library: " + row.chose.substr(row.chose.rfind('/') + 1);
  if (!row.timed()) {
    table.add_note(label,
                   row.wrong() ? "WRONG: " + row.verdict.message : "skipped: " + row.skipped);
    return;
  }
  const double work = result.counts_flops ? result.flops : result.bytes;
  table.add_row({label, format_seconds(row.seconds.median),
                 format_rate(work / row.seconds.median * 1e-9),
                 result.ceiling.empty() ? "-" : fmt::format("{:.1f}%", 100 * row.ceiling_ratio),
                 row.previous.empty() ? "-" : fmt::format("{:.2f}x", row.previous_ratio),
                 best_peer(row), fmt::format("{:.2g}", row.verdict.max_error_ratio)});
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
  return fmt::format(
      "medians of {} or more interleaved samples; quartiles span {:.1f}% "
      "(median),\n{:.1f}% at worst ({})\n",
      fewest, 100 * summarize(spreads).median, 100 * worst->seconds.spread(), worst->slug);
}

std::string verdict(const BenchRow& row) {
  if (!row.skipped.empty()) return "skipped: " + row.skipped;
  if (row.wrong()) return "WRONG: " + row.verdict.message;
  return "right; limit now: " + row.limit;
}

// Cold operands are as cold as the memory that they go through is large.
std::string temperature(const BenchResult& result) {
  if (!result.options.cold) return "warm operands";
  return fmt::format("cold operands ({} sets, {:.3g} MB)", result.operand_sets,
                     result.bytes * static_cast<double>(result.operand_sets) * 1e-6);
}

std::string verdicts(const BenchResult& result) {
  std::size_t width = 0;
  for (const BenchRow& row : result.rows) {
    if (row.kind == Kind::rung) width = std::max(width, row.slug.size());
  }
  std::string text;
  for (const BenchRow& row : result.rows) {
    if (row.kind != Kind::rung) continue;
    // The first line hangs out by the width of the name.
    const std::string lines = wrap(verdict(row), width + 2);
    text += fmt::format("{:<{}}", row.slug, width + 2) + lines.substr(width + 2);
  }
  return text;
}

}  // namespace

std::string describe(const BenchResult& result) {
  const auto& [dtype, threads, a_transposed, b_transposed, alpha, beta, cold] = result.options;
  const auto& [m, n, k] = result.size;
  if (result.op != "gemm") return fmt::format("{} {} {}", result.op, name(dtype), n);
  std::string text = fmt::format("gemm {} {}x{}x{} {}{}", name(dtype), m, n, k,
                                 a_transposed ? 't' : 'n', b_transposed ? 't' : 'n');
  if (alpha != 1) text += fmt::format(" alpha={}", alpha);
  if (beta != 0) text += fmt::format(" beta={}", beta);
  return text;
}

std::string bench_table(const BenchResult& result) {
  const std::string_view unit = result.counts_flops ? "GFLOP/s" : "GB/s";
  const int threads = result.options.threads;
  std::string text = describe(result);
  if (!result.device.starts_with("gpu")) {
    text += fmt::format(", {} thread{}", threads, threads == 1 ? "" : "s");
  }
  text += fmt::format(", {}\n", temperature(result));
  text += cut("on " + result.device, text_width) + "\n";
  if (!result.ceiling.empty()) {
    text += fmt::format("ceiling: {}, {} {}\n", result.ceiling,
                        format_rate(result.ceiling_rate * 1e-9), unit);
  }
  text += "\n";
  Table table({"rung", "time", std::string(unit), "ceiling", "previous", "best peer", "error"});
  for (const BenchRow& row : result.rows) add(table, result, row);
  return text + table.str() + "\n" + noise(result) + "\n" + verdicts(result);
}

}  // namespace rung
