#include "tools/report/markdown/figures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>

#include "tools/measure/random/ratio_statistics.hpp"
#include "tools/report/numbers.hpp"

namespace rung::markdown {
namespace {

/// "1 000 000"
std::string grouped(std::int64_t value) {
  std::string text = std::to_string(value);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3) {
    text.insert(static_cast<std::size_t>(at), " ");
  }
  return text;
}

std::string line_of(const Row& cells) { return fmt::format("| {} |\n", fmt::join(cells, " | ")); }

const PeerResult* find_peer(const Result& entry, const std::string& name) {
  const auto found = std::ranges::find(entry.peers, name, &PeerResult::name);
  return found == entry.peers.end() ? nullptr : &*found;
}

}  // namespace

std::string rate(double value) {
  const int digits =
      value > 0 ? std::max(0, 2 - static_cast<int>(std::floor(std::log10(value)))) : 0;
  return fmt::format("{:.{}f}", value, digits);
}

std::string ratio(std::optional<double> value) { return value ? format_ratio(value) + "x" : none; }

std::string size_of(const Result& entry) {
  return entry.counts_flops() ? size_name(entry) : grouped(entry.n);
}

std::string threads_text(int threads) {
  return fmt::format("{} thread{}", threads, threads == 1 ? "" : "s");
}

bool on_gpu(const Result& entry) { return entry.device.starts_with("gpu"); }

const char* unit(const Result& entry) { return entry.counts_flops() ? "GFLOP/s" : "GB/s"; }

std::string of_ceiling(const Result& entry) {
  return entry.ceiling_ratio ? format_percent(*entry.ceiling_ratio) : none;
}

std::string table(const Row& headings, const std::vector<Row>& rows, const char* rule) {
  Row rules(headings.size(), rule);
  rules.front() = "---";
  std::string text = line_of(headings) + line_of(rules);
  for (const Row& row : rows) text += line_of(row);
  return text;
}

std::optional<double> of_peer(const Result& entry, const std::string& name) {
  const PeerResult* const peer = find_peer(entry, name);
  return peer == nullptr ? std::nullopt : peer->ratio;
}

std::optional<double> on_device(const Result& entry, const std::string& name) {
  const PeerResult* const peer = find_peer(entry, name);
  if (peer == nullptr) return std::nullopt;
  return peer->graph_ratio ? peer->graph_ratio : peer->ratio;
}

double device_seconds(const Result& entry) {
  return entry.graph_seconds ? *entry.graph_seconds : *entry.seconds;
}

std::optional<double> geometric_mean(const std::vector<double>& ratios) {
  if (ratios.empty()) return std::nullopt;
  return ratio_statistics(ratios).geometric_mean;
}

std::optional<double> mean_of(const Entries& entries, const std::string& peer) {
  std::vector<double> ratios;
  for (const Result* entry : entries) {
    if (const auto one = of_peer(*entry, peer)) ratios.push_back(*one);
  }
  return geometric_mean(ratios);
}

OfLibrary of_library(const Results& results, std::size_t source) {
  OfLibrary found;
  for (const Result& entry : results.entries) {
    if (entry.source == source && entry.is_library()) found.entries.push_back(&entry);
  }
  if (found.entries.empty()) throw std::runtime_error("no entry of the library");
  for (const PeerResult& peer : found.first().peers) {
    const bool is_timed = std::ranges::any_of(
        found.entries, [&](const Result* entry) { return of_peer(*entry, peer.name).has_value(); });
    if (is_timed) found.peers.push_back(peer.name);
  }
  return found;
}

std::pair<Entries, Entries> square_and_oblong(const Entries& entries) {
  std::pair<Entries, Entries> forms;
  for (const Result* entry : entries) {
    (is_square(*entry) ? forms.first : forms.second).push_back(entry);
  }
  return forms;
}

json::Value fact(const Results& results, std::size_t source,
                 std::initializer_list<const char*> path) {
  json::Value value(*results.sources[source].machine, results.sources[source].file + ": machine");
  for (const char* key : path) value = value.at(key);
  return value;
}

double rate_at(const Results& results, std::size_t source,
               std::initializer_list<const char*> path) {
  return fact(results, source, path).number(json::quantity);
}

}  // namespace rung::markdown
