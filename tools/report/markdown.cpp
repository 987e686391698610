#include "tools/report/markdown.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/json/reader.hpp"
#include "tools/measure/random/ratio_statistics.hpp"
#include "tools/report/numbers.hpp"

namespace rung {
namespace {

using Row = std::vector<std::string>;
using Entries = std::vector<const Result*>;

constexpr const char* none = "–";

// Numbers and names.

std::string rate(double value) {
  const int digits =
      value > 0 ? std::max(0, 2 - static_cast<int>(std::floor(std::log10(value)))) : 0;
  return fmt::format("{:.{}f}", value, digits);
}

/// As `rung bench` prints it.
std::string ratio(std::optional<double> value) { return value ? format_ratio(value) + "x" : none; }

/// "1 000 000"
std::string grouped(std::int64_t value) {
  std::string text = std::to_string(value);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3) {
    text.insert(static_cast<std::size_t>(at), " ");
  }
  return text;
}

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

std::string line_of(const Row& cells) { return fmt::format("| {} |\n", fmt::join(cells, " | ")); }

/// All columns except the first are numbers.
std::string table(const Row& headings, const std::vector<Row>& rows, const char* rule = "---:") {
  Row rules(headings.size(), rule);
  rules.front() = "---";
  std::string text = line_of(headings) + line_of(rules);
  for (const Row& row : rows) text += line_of(row);
  return text;
}

// Figures of entries.

const PeerResult* find_peer(const Result& entry, const std::string& name) {
  const auto found = std::ranges::find(entry.peers, name, &PeerResult::name);
  return found == entry.peers.end() ? nullptr : &*found;
}

/// The peer's time over ours.
std::optional<double> of_peer(const Result& entry, const std::string& name) {
  const PeerResult* const peer = find_peer(entry, name);
  return peer == nullptr ? std::nullopt : peer->ratio;
}

/// The same in graphs, if both were timed there.
std::optional<double> on_device(const Result& entry, const std::string& name) {
  const PeerResult* const peer = find_peer(entry, name);
  if (peer == nullptr) return std::nullopt;
  return peer->graph_ratio ? peer->graph_ratio : peer->ratio;
}

/// For a short call, the time in a graph, without the host's part.
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

/// The library's results in one file.
struct OfLibrary {
  Entries entries;
  std::vector<std::string> peers;  // that it was timed against
  const Json* machine;

  const Result& first() const { return *entries.front(); }
};

OfLibrary of_library(const Results& results, std::size_t source) {
  OfLibrary found{{}, {}, results.sources[source].machine.get()};
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

/// A member of a machine's description, with its place for messages.
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

// The tables.

/// The device, and on a CPU its threads.
std::string where(const Results& results, const Result& first) {
  const auto text = [&](std::initializer_list<const char*> path) {
    return fact(results, 0, path).text();
  };
  constexpr json::Range any = {0, json::quantity.most};
  if (on_gpu(first)) {
    const auto number = [&](const char* key) { return fact(results, 0, {"gpu", key}).number(any); };
    return fmt::format("{} ({:.0f} SMs, at most {:.0f} MHz, {:.0f} W), driver {}, CUDA {}, {}",
                       text({"gpu", "name"}), number("multiprocessors"), number("max_clock_mhz"),
                       number("power_limit_watts"), text({"gpu", "driver"}), text({"gpu", "cuda"}),
                       first.dtype);
  }
  return fmt::format("{} ({}, {:.0f} cores), {}, {}", text({"model"}), text({"isa"}),
                     fact(results, 0, {"cores"}).number(any), first.dtype,
                     threads_text(first.threads));
}

std::string machine(const Results& results) {
  if (results.entries.empty()) throw std::runtime_error("no results");
  const Result& first = results.entries.front();
  const auto text = [&](const char* key) { return fact(results, 0, {key}).text(); };
  std::string peers;
  for (const auto& [name, peer] : fact(results, 0, {"peers"}).members()) {
    peers += fmt::format("{}{} {} ({})", peers.empty() ? "" : "; ", name, peer.at("version").text(),
                         peer.at(on_gpu(first) ? "note" : "kernels").text());
  }
  return fmt::format("{}, {} operands; {}; {}. Peers: {}. rung {} at commit {}, {}.\n",
                     where(results, first), first.operands, text("os"), text("compiler"),
                     peers.empty() ? "none" : peers, text("version"), text("commit"),
                     text("date").substr(0, 10));
}

/// The rungs at the largest square size at which each of them was timed.
Entries largest_ladder(const Results& results) {
  std::vector<std::pair<std::string, Entries>> sizes;
  for (const Result& entry : results.entries) {
    if (entry.is_library() || !is_square(entry)) continue;
    const auto same = std::ranges::find(sizes, size_of(entry), &decltype(sizes)::value_type::first);
    if (same == sizes.end()) {
      sizes.emplace_back(size_of(entry), Entries{&entry});
    } else {
      same->second.push_back(&entry);
    }
  }
  const Entries* largest = nullptr;
  for (const auto& [size, entries] : sizes) {
    if (!std::ranges::all_of(entries, &Result::timed)) continue;
    if (largest == nullptr || volume(*entries.front()) > volume(*largest->front())) {
      largest = &entries;
    }
  }
  if (largest == nullptr) throw std::runtime_error("no square size at which every rung was timed");
  return *largest;
}

std::string ladder(const Results& results) {
  const Entries entries = largest_ladder(results);
  std::vector<Row> rows;
  for (const Result* entry : entries) {
    const std::string gain =
        entry->previous.empty()
            ? none
            : fmt::format("{} vs {}", ratio(entry->previous_ratio), short_name(entry->previous));
    rows.push_back({slug_of(entry->rung), rate(entry->rate()), gain, of_ceiling(*entry)});
  }
  const Result& first = *entries.front();
  return table({"rung, at " + size_of(first), unit(first), "speed-up", "of the ceiling"}, rows);
}

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

std::string summary(const Results& results) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < results.sources.size(); ++i) rows.push_back(summary_row(results, i));
  return table({"library", "device", "of the ceiling, at best", "square sizes", "oblong sizes"},
               rows, "---");
}

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

std::string products(const Results& results) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < results.sources.size(); ++i) add_products(rows, results, i);
  return table({"product", "size", "µs", "TFLOP/s", "of reading", "vs plain", "vs peers"}, rows);
}

struct RandomGroup {
  Row key;
  std::vector<double> ratios;
  std::set<std::int64_t> seeds;
};

std::vector<RandomGroup> random_groups(const std::vector<RandomDraw>& draws, bool is_gpu) {
  std::vector<RandomGroup> groups;
  for (const RandomDraw& draw : draws) {
    const Row key =
        is_gpu ? Row{draw.dtype, draw.layout}
               : Row{draw.dtype, std::to_string(draw.threads), std::to_string(draw.max_size)};
    auto group = std::ranges::find(groups, key, &RandomGroup::key);
    if (group == groups.end()) group = groups.insert(groups.end(), RandomGroup{key, {}, {}});
    if (draw.ratio) group->ratios.push_back(*draw.ratio);
    group->seeds.insert(draw.seed);
  }
  return groups;
}

std::string random(const Results& results) {
  if (results.random.empty()) throw std::runtime_error("no random shapes");
  const bool is_gpu = results.random.front().threads == 0;
  std::vector<Row> rows;
  for (const auto& [key, ratios, seeds] : random_groups(results.random, is_gpu)) {
    if (ratios.empty()) {
      throw std::runtime_error("no shape of " + key.front() + " was compared with a peer");
    }
    const RatioStatistics of = ratio_statistics(ratios);
    Row row = key;
    for (const double figure : {of.geometric_mean, of.median, of.fifth_percentile, of.worst}) {
      row.push_back(fmt::format("{:.2f}", figure));
    }
    row.push_back(std::to_string(of.count));
    if (is_gpu) row.push_back(std::to_string(seeds.size()));
    rows.push_back(std::move(row));
  }
  Row headings = is_gpu ? Row{"type", "layout"} : Row{"type", "threads", "up to"};
  headings.insert(headings.end(),
                  {"geometric mean", "median", "5th percentile", "worst", "shapes"});
  if (is_gpu) headings.push_back("seeds");
  return table(headings, rows);
}

// The headline.

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

}  // namespace

bool takes_several_files(std::string_view kind) {
  return kind == "summary" || kind == "products" || kind == "headline" || kind == "random";
}

std::string markdown_table(std::string_view kind, const Results& results) {
  static const std::map<std::string_view, std::string (*)(const Results&)> tables = {
      {"machine", machine}, {"ladder", ladder},     {"library", library},   {"reading", reading},
      {"summary", summary}, {"products", products}, {"headline", headline}, {"random", random}};
  return tables.at(kind)(results);
}

}  // namespace rung
