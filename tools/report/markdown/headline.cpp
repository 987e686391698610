// The headline: five types at two sizes, and their random shapes.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/measure/random/ratio_statistics.hpp"
#include "tools/report/markdown/figures.hpp"
#include "tools/report/markdown/tables.hpp"

namespace rung::markdown {
namespace {

constexpr std::string_view headline_types[] = {"f32", "bf16", "f64", "e4m3", "i8"};
constexpr std::int64_t headline_sizes[] = {4096, 8192};

/// "2026-11-27 `f426a6d5`": the date and commit of a file.
std::string measured_at(const Results& results, std::size_t source) {
  return fmt::format("{} `{}`", fact(results, source, {"date"}).text().substr(0, 10),
                     fact(results, source, {"commit"}).text());
}

/// The library's newest plain product of this type and size; null if it was not measured.
const Result* newest(const Results& results, std::string_view dtype, std::int64_t size) {
  const Result* found = nullptr;
  for (const Result& entry : results.entries) {
    const bool is_of_size = entry.m == size && entry.n == size && entry.k == size;
    const bool is_plain = entry.form.is_plain() && (entry.math.empty() || entry.math == "standard");
    if (!entry.is_library() || !entry.timed() || !is_of_size || !is_plain) continue;
    if (entry.op != "gemm" || entry.dtype != dtype) continue;
    if (found == nullptr ||
        measured_at(results, entry.source) > measured_at(results, found->source)) {
      found = &entry;
    }
  }
  return found;
}

/// "728 TFLOP/s, 0.99x": the rate, and the time of the fastest peer over the library's.
std::string headline_cell(const Result& entry) {
  std::optional<double> least;
  for (const PeerResult& peer : entry.peers) {
    if (peer.ratio) least = std::min(least.value_or(*peer.ratio), *peer.ratio);
  }
  return fmt::format("{} TFLOP/s, {}", rate(entry.rate() * 1e-3), ratio(least));
}

/// Empty if nothing of this type was measured.
Row headline_row(const Results& results, std::string_view dtype) {
  Row row = {std::string(dtype)};
  std::set<std::string> times;
  for (const std::int64_t size : headline_sizes) {
    const Result* const entry = newest(results, dtype, size);
    row.push_back(entry == nullptr ? none : headline_cell(*entry));
    if (entry != nullptr) times.insert(measured_at(results, entry->source));
  }
  std::vector<double> ratios;
  for (const RandomDraw& draw : results.random) {
    if (draw.dtype != dtype || !draw.ratio) continue;
    ratios.push_back(*draw.ratio);
    times.insert(measured_at(results, draw.source));
  }
  if (times.empty()) return {};
  const RatioStatistics of = ratio_statistics(ratios);
  for (const double figure : {of.median, of.fifth_percentile}) {
    row.push_back(ratios.empty() ? none : fmt::format("{:.2f}x", figure));
  }
  row.push_back(std::to_string(of.count));
  row.push_back(fmt::format("{}", fmt::join(times, ", ")));
  return row;
}

}  // namespace

std::string headline(const Results& results) {
  std::vector<Row> rows;
  for (const std::string_view dtype : headline_types) {
    if (Row row = headline_row(results, dtype); !row.empty()) rows.push_back(std::move(row));
  }
  if (rows.empty()) throw std::runtime_error("no product of 4096³ or 8192³ and no random shapes");
  return table(
      {"type", "4096³", "8192³", "random shapes, median", "5th percentile", "shapes", "measured"},
      rows);
}

}  // namespace rung::markdown
