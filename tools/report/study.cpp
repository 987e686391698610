#include "tools/report/study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

namespace rung {
namespace {

using StudyKey = std::tuple<std::string, std::string, std::string, std::string, std::string,
                            std::string, std::string, double, double, int>;

/// Empty for the default mode.
std::string math_of_library(const Result& r) {
  return r.is_library() && r.math != "standard" ? r.math : "";
}
std::string family_of(const Result& r) { return r.family == "symmetric" ? "" : r.family; }

StudyKey key_of(const Result& r) {
  const int threads = r.device.starts_with("gpu") ? 0 : r.threads;  // host threads are irrelevant
  return {r.op,         r.dtype, r.device, r.layout, r.operands, math_of_library(r),
          family_of(r), r.alpha, r.beta,   threads};
}

/// Results by name, in order of first appearance; the last of several with the same name.
class LastOfEach {
 public:
  void add(const std::string& name, const Result* result) {
    const auto [place, is_new] = places_.try_emplace(name, results_.size());
    if (is_new) {
      results_.push_back(result);
    } else {
      results_[place->second] = result;
    }
  }

  const std::vector<const Result*>& results() const { return results_; }

 private:
  std::map<std::string, std::size_t> places_;
  std::vector<const Result*> results_;
};

const PeerResult* find_peer(const Result& result, const std::string& name) {
  for (const PeerResult& peer : result.peers) {
    if (peer.name == name) return &peer;
  }
  return nullptr;
}

}  // namespace

std::string Study::name() const {
  const Result& r = first();
  std::string text = r.op + " " + r.dtype;
  if (!on_gpu()) text += fmt::format(", {} thread{}", r.threads, r.threads == 1 ? "" : "s");
  if (!r.layout.empty() && r.layout != "nn") text += ", layout " + r.layout;
  if (r.alpha != 1) text += fmt::format(", alpha {}", r.alpha);
  if (r.beta != 0) text += fmt::format(", beta {}", r.beta);
  if (r.operands == "cold") text += ", cold operands";
  if (!math_of_library(r).empty()) text += ", mode " + r.math;
  if (!family_of(r).empty()) text += ", elements " + r.family;
  return text;
}

std::vector<const Result*> Study::ladder() const {
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::size_t>, LastOfEach> problems;
  for (const Result* entry : entries_) {
    if (entry->is_library() || !entry->timed() || !is_square(*entry)) continue;
    problems[{entry->m, entry->n, entry->k, entry->source}].add(entry->rung, entry);
  }
  std::vector<const Result*> best;
  for (const auto& [problem, each] : problems) {
    const std::vector<const Result*>& rungs = each.results();
    if (best.empty() || std::pair(rungs.size(), volume(*rungs.front())) >
                            std::pair(best.size(), volume(*best.front()))) {
      best = rungs;
    }
  }
  return best;
}

std::vector<const Result*> Study::library() const {
  LastOfEach sizes;
  for (const Result* entry : entries_) {
    if (!entry->is_library() || !entry->timed()) continue;
    sizes.add(fmt::format("{} {} {}", entry->m, entry->n, entry->k), entry);
  }
  const std::vector<const Result*>& found = sizes.results();
  std::vector<const Result*> ordered;
  std::copy_if(found.begin(), found.end(), std::back_inserter(ordered),
               [](const Result* result) { return is_square(*result); });
  std::sort(ordered.begin(), ordered.end(),
            [](const Result* left, const Result* right) { return volume(*left) < volume(*right); });
  std::copy_if(found.begin(), found.end(), std::back_inserter(ordered),
               [](const Result* result) { return !is_square(*result); });
  return ordered;
}

std::map<std::string, std::vector<const Result*>> Study::curves() const {
  std::map<std::string, std::map<std::int64_t, const Result*>> by_size;
  for (const Result* entry : entries_) {
    if (entry->timed() && is_square(*entry)) by_size[entry->rung][entry->n] = entry;
  }
  std::map<std::string, std::vector<const Result*>> curves;
  for (const auto& [rung, sizes] : by_size) {
    for (const auto& [size, entry] : sizes) curves[rung].push_back(entry);
  }
  return curves;
}

std::vector<std::string> Study::peers() const {
  std::vector<const Result*> of = library();
  if (of.empty()) of = ladder();
  std::vector<std::string> names;
  std::set<std::string_view> known;
  for (const Result* entry : of) {
    for (const PeerResult& peer : entry->peers) {
      if (peer.ratio && known.insert(peer.name).second) names.push_back(peer.name);
    }
  }
  return names;
}

std::vector<Study> studies_of(const Results& results) {
  std::vector<Study> studies;
  std::map<StudyKey, std::size_t> places;
  for (const Result& entry : results.entries) {
    const auto [place, is_new] = places.try_emplace(key_of(entry), studies.size());
    if (is_new) {
      studies.emplace_back(entry);
    } else {
      studies[place->second].add(entry);
    }
  }
  std::ranges::stable_partition(studies,
                                [](const Study& study) { return study.first().op == "gemm"; });
  return studies;
}

std::optional<double> ratio_to(const Result& result, const std::string& peer) {
  const PeerResult* found = find_peer(result, peer);
  return found == nullptr ? std::nullopt : found->ratio;
}

std::optional<double> seconds_of(const Result& result, const std::string& peer) {
  const PeerResult* found = find_peer(result, peer);
  return found == nullptr ? std::nullopt : found->seconds;
}

std::optional<double> mean_ratio(const std::vector<const Result*>& results,
                                 const std::string& peer) {
  double sum = 0;
  int count = 0;
  for (const Result* result : results) {
    const auto ratio = ratio_to(*result, peer);
    if (!ratio) continue;
    sum += std::log(*ratio);
    ++count;
  }
  return count == 0 ? std::nullopt : std::optional(std::exp(sum / count));
}

}  // namespace rung
