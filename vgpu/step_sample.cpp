#include "vgpu/step_sample.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace rung::vgpu {
namespace {

constexpr std::size_t max_warps = 4, first_executions = 3;

}  // namespace

StepSample::StepSample(const StepEvents& events, const Kernel& kernel)
    : events_(events), basic_block_of_(kernel.block_of_site) {
  for (std::uint32_t site = 0; site < basic_block_of_.size(); ++site) {
    in_block_[basic_block_of_[site]].push_back(site);
  }
}

const std::vector<std::uint32_t>& StepSample::sites_in(std::uint32_t basic_block) const {
  static const std::vector<std::uint32_t> none;
  const auto found = in_block_.find(basic_block);
  return found == in_block_.end() ? none : found->second;
}

std::size_t StepSample::instructions_of(int warp) const {
  std::size_t all = 0;
  for (const StepEvent& event : events_.all) {
    const bool begins = event.warp == warp && event.kind == StepEvent::Kind::begin;
    if (begins) all += sites_in(event.index).size();
  }
  return all;
}

std::vector<int> StepSample::warps() const {
  std::map<int, std::vector<std::uint32_t>> paths;
  constexpr std::size_t compared = 64;
  for (const StepEvent& event : events_.all) {
    if (event.kind != StepEvent::Kind::begin) continue;
    auto& path = paths[event.warp];
    if (path.size() < compared) path.push_back(event.index);
  }
  std::vector<int> chosen;
  std::set<std::vector<std::uint32_t>> known;
  for (const auto& [warp, path] : paths) {
    if (chosen.size() < max_warps && known.insert(path).second) chosen.push_back(warp);
  }
  for (const auto& [warp, path] : paths) {
    const bool is_new = std::find(chosen.begin(), chosen.end(), warp) == chosen.end();
    if (chosen.size() < max_warps && is_new) chosen.push_back(warp);
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

std::vector<StepSample::Execution> StepSample::executions_of(int warp) const {
  std::map<std::uint32_t, std::size_t> times, seen;
  for (const StepEvent& event : events_.all) {
    if (event.warp == warp && event.kind == StepEvent::Kind::begin) ++times[event.index];
  }
  std::vector<Execution> shown;
  std::map<std::uint32_t, std::size_t> latest;  // by basic block: index in shown, plus one
  std::size_t skipped = 0;
  for (std::size_t i = 0; i < events_.all.size(); ++i) {
    const StepEvent& event = events_.all[i];
    if (event.warp != warp || event.kind == StepEvent::Kind::bulk) continue;
    if (event.kind == StepEvent::Kind::access) {
      const std::uint32_t site = events_.accesses[event.index].site;
      const std::size_t at = latest[basic_block_of_[site]];
      if (at > 0) shown[at - 1].met[site].push_back(i);
      continue;
    }
    const std::size_t number = ++seen[event.index];
    const bool keeps = number <= first_executions || number == times[event.index];
    latest[event.index] = keeps ? shown.size() + 1 : 0;
    if (keeps) {
      shown.push_back({i, std::exchange(skipped, 0), {}});
    } else {
      skipped += sites_in(event.index).size();
    }
  }
  return shown;
}

}  // namespace rung::vgpu
