// The library beside its peers, at every size or on average.

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tools/report/markdown/figures.hpp"
#include "tools/report/markdown/tables.hpp"
#include "tools/report/numbers.hpp"

namespace rung::markdown {
namespace {

void add_ratios(Row& row, const std::vector<std::string>& peers, const auto& ratio_of) {
  for (const std::string& peer : peers) row.push_back(ratio(ratio_of(peer)));
}

void add_headings(Row& headings, const std::vector<std::string>& peers) {
  for (const std::string& peer : peers) headings.push_back("vs " + peer);
}

/// A row of means over square or oblong sizes, if there are several.
void add_means(std::vector<Row>& rows, const OfLibrary& library, const char* form,
               const Entries& entries) {
  if (entries.size() < 2) return;
  const std::string kind = library.first().op == "gemm" ? std::string(form) + ", " : "";
  Row row = {"**" + kind + "geometric mean**", "", "", ""};
  for (const std::string& peer : library.peers) {
    row.push_back("**" + ratio(mean_of(entries, peer)) + "**");
  }
  rows.push_back(std::move(row));
}

Row summary_row(const Results& results, std::size_t source) {
  const OfLibrary found = of_library(results, source);
  const Result& first = found.first();
  const std::string threads = on_gpu(first) ? "" : ", " + threads_text(first.threads);
  std::optional<double> best;
  for (const Result* entry : found.entries) {
    if (entry->ceiling_ratio) best = std::max(best.value_or(0), *entry->ceiling_ratio);
  }
  const auto means = [&](const Entries& entries) {
    std::string text;
    for (const std::string& peer : found.peers) {
      const auto mean = mean_of(entries, peer);
      if (mean) text += fmt::format("{}{} vs {}", text.empty() ? "" : ", ", ratio(mean), peer);
    }
    return text.empty() ? none : text;
  };
  const auto [square, oblong] = square_and_oblong(found.entries);
  const json::Value device =
      on_gpu(first) ? fact(results, source, {"gpu", "name"}) : fact(results, source, {"model"});
  return {fmt::format("{} {}{}", first.op, first.dtype, threads), device.text(),
          best ? format_percent(*best) : none, means(square), means(oblong)};
}

}  // namespace

std::string library(const Results& results) {
  const OfLibrary found = of_library(results, 0);
  std::vector<Row> rows;
  for (const Result* entry : found.entries) {
    if (!entry->timed()) {
      throw std::runtime_error("the library was not timed at " + size_of(*entry));
    }
    Row row = {size_of(*entry), slug_of(entry->chose), rate(entry->rate()), of_ceiling(*entry)};
    add_ratios(row, found.peers, [&](const auto& peer) { return of_peer(*entry, peer); });
    rows.push_back(std::move(row));
  }
  const auto [square, oblong] = square_and_oblong(found.entries);
  add_means(rows, found, "square", square);
  add_means(rows, found, "oblong", oblong);
  Row headings = {"size", "rung", unit(found.first()), "of the ceiling"};
  add_headings(headings, found.peers);
  return table(headings, rows);
}

std::string reading(const Results& results) {
  const OfLibrary found = of_library(results, 0);
  const auto most_of = [&](const Result& entry) {
    return rate_at(results, 0,
                   {"ceilings", "read", "DRAM", entry.threads == 1 ? "one_thread" : "all_threads"});
  };
  std::vector<Row> rows;
  for (const Result* entry : found.entries) {
    Row row = {size_of(*entry), slug_of(entry->chose), rate(entry->gbps.value_or(0)),
               format_percent(entry->gbps.value_or(0) / most_of(*entry))};
    add_ratios(row, found.peers, [&](const auto& peer) { return of_peer(*entry, peer); });
    rows.push_back(std::move(row));
  }
  Row headings = {"size", "rung", "GB/s", "of " + rate(most_of(*found.entries.back())) + " GB/s"};
  add_headings(headings, found.peers);
  return table(headings, rows);
}

std::string summary(const Results& results) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < results.sources.size(); ++i) rows.push_back(summary_row(results, i));
  return table({"library", "device", "of the ceiling, at best", "square sizes", "oblong sizes"},
               rows, "---");
}

}  // namespace rung::markdown
