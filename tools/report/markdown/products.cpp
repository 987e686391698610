// Products of the library that are more than a plain one.

#include <fmt/format.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/report/markdown/figures.hpp"
#include "tools/report/markdown/tables.hpp"
#include "tools/report/numbers.hpp"

namespace rung::markdown {
namespace {

/// The plain product's time over the library's; empty without such a comparison.
std::optional<double> over_plain(const Results& results, const Result& entry) {
  const ProblemForm& form = entry.form;
  if (form.epilogue.empty() && form.weights.empty() && form.scales.empty()) return std::nullopt;
  for (const Result& other : results.entries) {
    const bool is_same = other.source == entry.source && other.m == entry.m && other.n == entry.n &&
                         other.k == entry.k;
    if (is_same && !other.is_library() && other.timed()) {
      return device_seconds(other) / device_seconds(entry);
    }
  }
  return std::nullopt;
}

/// The options of `rung bench` that make a product more than a plain one.
std::string product_name(const Result& entry) {
  const ProblemForm& form = entry.form;
  std::string text = entry.dtype;
  if (form.batch != 1) text += fmt::format(", batch {}", form.batch);
  if (form.groups != 0) text += fmt::format(", {} groups, skew {}", form.groups, form.skew);
  for (const std::string& part : {form.epilogue, form.weights}) {
    if (!part.empty()) text += ", " + part;
  }
  if (!form.scales.empty()) text += ", scales " + form.scales;
  if (!entry.math.empty() && entry.math != "standard") text += ", " + entry.math;
  return text;
}

std::string against(const std::vector<std::string>& peers, const auto& ratio_of) {
  std::string text;
  for (const std::string& peer : peers) {
    const std::optional<double> one = ratio_of(peer);
    if (one) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", ratio(one), peer);
  }
  return text.empty() ? none : text;
}

void add_products(std::vector<Row>& rows, const Results& results, std::size_t source) {
  OfLibrary found = of_library(results, source);
  std::erase_if(found.entries, [](const Result* entry) { return !entry->timed(); });
  const double reading_rate = rate_at(results, source, {"gpu", "ceilings", "memory_read"});
  std::map<std::string, std::vector<double>> ratios;
  for (const Result* entry : found.entries) {
    const double seconds = device_seconds(*entry);
    const double faster = *entry->seconds / seconds;  // in a graph than as calls
    const auto ratio_of = [&](const std::string& peer) { return on_device(*entry, peer); };
    for (const std::string& peer : found.peers) {
      if (const auto one = ratio_of(peer)) ratios[peer].push_back(*one);
    }
    const bool has_weights = !entry->form.weights.empty();
    rows.push_back({product_name(*entry), size_of(*entry), rate(seconds * 1e6),
                    rate(*entry->gflops * faster * 1e-3),
                    has_weights ? format_percent(*entry->gbps * faster / reading_rate) : none,
                    ratio(over_plain(results, *entry)), against(found.peers, ratio_of)});
  }
  if (found.entries.size() < 2 || found.peers.empty()) return;
  rows.push_back(
      {"**geometric mean**", "", "", "", "", "",
       against(found.peers, [&](const auto& peer) { return geometric_mean(ratios[peer]); })});
}

}  // namespace

std::string products(const Results& results) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < results.sources.size(); ++i) add_products(rows, results, i);
  return table({"product", "size", "µs", "TFLOP/s", "of reading", "vs plain", "vs peers"}, rows);
}

}  // namespace rung::markdown
