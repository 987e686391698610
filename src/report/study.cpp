#include "report/study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

namespace rung {
namespace {

auto key_of(const Result& r) {
  const int threads = r.device.starts_with("gpu") ? 0 : r.threads;  // the host's do not matter
  return std::tuple(r.op, r.dtype, r.device, r.layout, r.operands, r.alpha, r.beta, threads);
}

const PeerResult* find_peer(const Result& result, const std::string& name) {
  for (const PeerResult& peer : result.peers) {
    if (peer.name == name) return &peer;
  }
  return nullptr;
}

}  // namespace

bool Study::takes(const Result& result) const { return key_of(first()) == key_of(result); }

std::string Study::name() const {
  const Result& r = first();
  std::string text = r.op + " " + r.dtype;
  if (!on_gpu()) text += fmt::format(", {} thread{}", r.threads, r.threads == 1 ? "" : "s");
  if (!r.layout.empty() && r.layout != "nn") text += ", layout " + r.layout;
  if (r.alpha != 1) text += fmt::format(", alpha {}", r.alpha);
  if (r.beta != 0) text += fmt::format(", beta {}", r.beta);
  if (r.operands == "cold") text += ", cold operands";
  return text;
}

std::vector<const Result*> Study::ladder() const {
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::size_t>,
           std::vector<const Result*>>
      problems;
  for (const Result* entry : entries_) {
    if (entry->is_library() || !entry->timed() || !is_square(*entry)) continue;
    problems[{entry->m, entry->n, entry->k, entry->source}].push_back(entry);
  }
  std::vector<const Result*> best;
  for (const auto& [problem, rungs] : problems) {
    if (best.empty() || std::pair(rungs.size(), volume(*rungs.front())) >
                            std::pair(best.size(), volume(*best.front()))) {
      best = rungs;
    }
  }
  return best;
}

std::vector<const Result*> Study::library() const {
  std::vector<const Result*> found;
  for (const Result* entry : entries_) {
    if (!entry->is_library() || !entry->timed()) continue;
    const auto same = std::find_if(found.begin(), found.end(), [&](const Result* other) {
      return std::tie(other->m, other->n, other->k) == std::tie(entry->m, entry->n, entry->k);
    });
    if (same == found.end()) {
      found.push_back(entry);
    } else {
      *same = entry;
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const Result* left, const Result* right) {
    if (is_square(*left) != is_square(*right)) return is_square(*left);
    return is_square(*left) && volume(*left) < volume(*right);
  });
  return found;
}

std::vector<std::string> Study::rungs() const {
  std::set<std::string> ids;
  for (const Result* entry : entries_) {
    if (!entry->is_library() && entry->timed() && is_square(*entry)) ids.insert(entry->rung);
  }
  return {ids.begin(), ids.end()};
}

std::vector<const Result*> Study::curve(const std::string& rung) const {
  std::map<std::int64_t, const Result*> by_size;
  for (const Result* entry : entries_) {
    if (entry->rung == rung && entry->timed() && is_square(*entry)) by_size[entry->n] = entry;
  }
  std::vector<const Result*> curve;
  for (const auto& [size, entry] : by_size) curve.push_back(entry);
  return curve;
}

std::vector<std::string> Study::peers() const {
  std::vector<const Result*> of = library();
  if (of.empty()) of = ladder();
  std::vector<std::string> names;
  for (const Result* entry : of) {
    for (const PeerResult& peer : entry->peers) {
      const bool is_known = std::find(names.begin(), names.end(), peer.name) != names.end();
      if (peer.ratio && !is_known) names.push_back(peer.name);
    }
  }
  return names;
}

std::vector<Study> studies_of(const Results& results) {
  std::vector<Study> studies;
  for (const Result& entry : results.entries) {
    const auto found = std::find_if(studies.begin(), studies.end(),
                                    [&](const Study& study) { return study.takes(entry); });
    if (found == studies.end()) {
      studies.emplace_back(entry);
    } else {
      found->add(entry);
    }
  }
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
