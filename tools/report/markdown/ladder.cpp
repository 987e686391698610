// The machine of results, and the rungs of a ladder.

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tools/report/markdown/figures.hpp"
#include "tools/report/markdown/tables.hpp"
#include "tools/report/numbers.hpp"

namespace rung::markdown {
namespace {

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

}  // namespace

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

}  // namespace rung::markdown
