#include "vgpu/step_recorder.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <utility>

#include "vgpu/model/kernel.hpp"

namespace rung::vgpu {
namespace {

constexpr std::size_t most_events = 400'000;
constexpr std::size_t most_accesses = 60'000;  // 300 bytes each
constexpr std::size_t most_warps = 4, most_steps = 500, last_steps = 100;
constexpr std::size_t first_executions = 3;
constexpr std::uint32_t most_cells = 1024, smallest_cell = 16;

std::string quoted(const std::string& text) {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') json += '\\';
    if (static_cast<unsigned char>(c) >= ' ') json += c;
  }
  json += '"';
  return json;
}

std::string array(const std::vector<std::string>& texts) {
  std::string json = "[";
  for (const std::string& text : texts) {
    if (json.size() > 1) json += ',';
    json += quoted(text);
  }
  json += ']';
  return json;
}

/// Numbers texts in the order of their first use.
class Names {
 public:
  std::size_t index(const std::string& text) {
    const auto [found, is_new] = indices_.try_emplace(text, all_.size());
    if (is_new) all_.push_back(text);
    return found->second;
  }
  const std::vector<std::string>& all() const { return all_; }

 private:
  std::map<std::string, std::size_t> indices_;
  std::vector<std::string> all_;
};

/// Accesses, barriers and other waits, and tensor cores.
bool stands_alone(const Site& site) {
  const auto begins = [&](const char* with) { return site.mnemonic.starts_with(with); };
  const bool parameter = begins("ld.param") || begins("ld.const");
  const bool accesses = begins("ld.") || begins("st.") || begins("atom") || begins("red.") ||
                        begins("cp.") || begins("ldmatrix") || begins("stmatrix") ||
                        begins("wmma.load") || begins("wmma.store");
  return (accesses && !parameter) || site.role == SiteRole::barrier || begins("bar") ||
         begins("mbarrier") || begins("wgmma") || begins("mma") || begins("wmma");
}

std::string access_json(const WarpAccess& access, std::size_t more) {
  const int first = std::countr_zero(access.lanes);
  const std::uint64_t base = access.address[static_cast<std::size_t>(first)];
  std::vector<std::int64_t> offsets(32);
  for (std::size_t lane = 0; lane < 32; ++lane) {
    if ((access.lanes >> lane & 1) == 0) continue;
    offsets[lane] = static_cast<std::int64_t>(access.address[lane] - base);
  }
  const auto second = access.lanes & (access.lanes - 1);
  std::int64_t stride = 0;
  bool constant = true;
  if (second != 0) {
    const int next = std::countr_zero(second);
    stride = offsets[static_cast<std::size_t>(next)] / (next - first);
    for (int lane = 0; lane < 32; ++lane) {
      if ((access.lanes >> lane & 1) == 0) continue;
      constant = constant && offsets[static_cast<std::size_t>(lane)] == stride * (lane - first);
    }
  }
  return fmt::format(
      "[{},{},{},{},{},{},{},{}]", access.shared ? 1 : 0, access.load ? 1 : 0, access.bytes,
      access.lanes, access.units, base,
      constant ? fmt::format("{}", stride) : fmt::format("[{}]", fmt::join(offsets, ",")), more);
}

}  // namespace

/// Writes what a recorder has seen.
class StepText {
 public:
  StepText(const StepRecorder& recorder, const LaunchReport& report, const Kernel& kernel)
      : events_(recorder.events_),
        accesses_(recorder.accesses_),
        sites_(sites(kernel)),
        basic_block_of_(kernel.block_of_site),
        shared_(static_cast<std::uint32_t>(report.shared)) {
    for (std::uint32_t site = 0; site < sites_.size(); ++site) {
      in_block_[basic_block_of_[site]].push_back(site);
    }
    while (shared_ / cell_ > most_cells) cell_ *= 2;
    std::string warps;
    for (const int warp : chosen_warps()) {
      if (!warps.empty()) warps += ',';
      warps += warp_json(warp);
    }
    const auto extent = [](const Dim3& of) { return fmt::format("[{},{},{}]", of.x, of.y, of.z); };
    text_ = fmt::format(
        "{{\"block\":{},\"grid\":{},\"shared\":{},\"cell\":{},\"complete\":{},\"ops\":{},"
        "\"places\":{},\"warps\":[{}]}}",
        extent(report.block), extent(report.grid), shared_, cell_, recorder.complete_,
        array(ops_.all()), array(places_.all()), warps);
  }

  const std::string& text() const { return text_; }

 private:
  using Event = StepRecorder::Event;

  /// An execution of a basic block that is shown.
  struct Execution {
    std::size_t event;
    std::size_t skipped;                                    // instructions before it
    std::map<std::uint32_t, std::vector<std::size_t>> met;  // events of accesses, by site
  };

  /// Warp 0, the first of each other path, then others.
  std::vector<int> chosen_warps() const {
    std::map<int, std::vector<std::uint32_t>> paths;
    constexpr std::size_t compared = 64;
    for (const Event& event : events_) {
      if (event.kind != Event::Kind::begin) continue;
      auto& path = paths[event.warp];
      if (path.size() < compared) path.push_back(event.index);
    }
    std::vector<int> chosen;
    std::set<std::vector<std::uint32_t>> known;
    for (const auto& [warp, path] : paths) {
      if (chosen.size() < most_warps && known.insert(path).second) chosen.push_back(warp);
    }
    for (const auto& [warp, path] : paths) {
      const bool is_new = std::find(chosen.begin(), chosen.end(), warp) == chosen.end();
      if (chosen.size() < most_warps && is_new) chosen.push_back(warp);
    }
    std::sort(chosen.begin(), chosen.end());
    return chosen;
  }

  std::size_t instructions_in(std::uint32_t basic_block) const {
    const auto found = in_block_.find(basic_block);
    return found == in_block_.end() ? 0 : found->second.size();
  }

  std::vector<Execution> executions_of(int warp) const {
    std::map<std::uint32_t, std::size_t> times, seen;
    for (const Event& event : events_) {
      if (event.warp == warp && event.kind == Event::Kind::begin) ++times[event.index];
    }
    std::vector<Execution> shown;
    std::map<std::uint32_t, std::size_t> latest;  // by basic block: index in shown, plus one
    std::size_t skipped = 0;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      const Event& event = events_[i];
      if (event.warp != warp || event.kind == Event::Kind::bulk) continue;
      if (event.kind == Event::Kind::access) {
        const std::uint32_t site = accesses_[event.index].site;
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
        skipped += instructions_in(event.index);
      }
    }
    return shown;
  }

  /// Cells of shared memory that any warp has written in events [begin, end).
  std::string cells_written(std::size_t begin, std::size_t end) const {
    std::set<std::uint32_t> cells;
    const auto add = [&](std::uint64_t offset, std::uint64_t bytes) {
      if (bytes == 0 || offset + bytes > shared_) return;
      for (std::uint64_t at = offset / cell_; at <= (offset + bytes - 1) / cell_; ++at) {
        cells.insert(static_cast<std::uint32_t>(at));
      }
    };
    for (std::size_t i = begin; i < end; ++i) {
      const Event& event = events_[i];
      if (event.kind == Event::Kind::bulk) add(event.index, event.bytes);
      if (event.kind != Event::Kind::access) continue;
      const WarpAccess& access = accesses_[event.index];
      if (!access.shared || access.load) continue;
      for (std::size_t lane = 0; lane < 32; ++lane) {
        if ((access.lanes >> lane & 1) != 0) add(access.address[lane], access.bytes);
      }
    }
    std::vector<std::uint32_t> ranges;
    for (const std::uint32_t cell : cells) {
      if (!ranges.empty() && ranges[ranges.size() - 2] + ranges.back() == cell) {
        ++ranges.back();
      } else {
        ranges.insert(ranges.end(), {cell, 1});
      }
    }
    return fmt::format("[{}]", fmt::join(ranges, ","));
  }

  struct Step {
    std::size_t place;
    std::uint32_t lanes;
    std::vector<std::size_t> ops;  // op, count, …
    std::size_t order;             // the event that it belongs to
    std::size_t skipped;
    std::string access;
    bool alone;
    std::size_t instructions = 1;
  };

  void add_instruction(std::vector<Step>& steps, std::uint32_t site, const Execution& execution,
                       std::size_t skipped) {
    const std::size_t op = ops_.index(sites_[site].mnemonic);
    const std::string& where = sites_[site].where;
    const std::size_t place = places_.index(where.substr(where.rfind('/') + 1));
    const std::uint32_t lanes = events_[execution.event].lanes;
    const bool alone = stands_alone(sites_[site]);
    Step* const last = steps.empty() ? nullptr : &steps.back();
    if (!alone && skipped == 0 && last != nullptr && !last->alone && last->place == place &&
        last->lanes == lanes) {
      ++last->instructions;
      for (std::size_t i = 0; i < last->ops.size(); i += 2) {
        if (last->ops[i] == op) {
          ++last->ops[i + 1];
          return;
        }
      }
      last->ops.insert(last->ops.end(), {op, 1});
      return;
    }
    Step step{place, lanes, {op, 1}, execution.event, skipped, "", alone};
    const auto met = execution.met.find(site);
    if (met != execution.met.end()) {
      step.order = met->second.front();
      step.access = ',';
      step.access += access_json(accesses_[events_[step.order].index], met->second.size() - 1);
    }
    steps.push_back(std::move(step));
  }

  std::string warp_json(int warp) {
    std::size_t all = 0, shown = 0;
    for (const Event& event : events_) {
      if (event.warp == warp && event.kind == Event::Kind::begin)
        all += instructions_in(event.index);
    }
    std::vector<Step> steps;
    for (const Execution& execution : executions_of(warp)) {
      std::size_t skipped = execution.skipped;
      for (const std::uint32_t site : in_block_[events_[execution.event].index]) {
        add_instruction(steps, site, execution, std::exchange(skipped, 0));
      }
    }
    if (steps.size() > most_steps) {  // the beginning and the end
      const auto first = steps.begin() + (most_steps - last_steps), end = steps.end() - last_steps;
      std::size_t left_out = 0;
      for (auto step = first; step != end; ++step) left_out += step->instructions + step->skipped;
      end->skipped += left_out;
      steps.erase(first, end);
    }
    std::string json;
    std::size_t before = 0;
    for (const Step& step : steps) {
      shown += step.instructions;
      const std::size_t order = std::max(before, step.order + 1);
      json += fmt::format("{}[{},{},[{}],{},{}{}]", json.empty() ? "" : ",\n", step.place,
                          step.lanes, fmt::join(step.ops, ","), cells_written(before, order),
                          step.skipped, step.access);
      before = order;
    }
    return fmt::format("{{\"warp\":{},\"instructions\":{},\"shown\":{},\"steps\":[{}]}}", warp, all,
                       shown, json);
  }

  const std::vector<Event>& events_;
  const std::vector<WarpAccess>& accesses_;
  const std::vector<Site>& sites_;
  const std::vector<std::uint32_t>& basic_block_of_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> in_block_;  // sites, in the text's order
  std::uint32_t shared_, cell_ = smallest_cell;
  Names ops_, places_;
  std::string text_;
};

StepRecorder::StepRecorder() : watcher_([this](const WarpStep& step) { see(step); }) {
  step_watcher = &watcher_;
}

StepRecorder::~StepRecorder() { step_watcher = nullptr; }

bool StepRecorder::has_room() const {
  return events_.size() < most_events && accesses_.size() < most_accesses;
}

void StepRecorder::see(const WarpAccess& access) {
  if (access.block != 0) return;
  if (!has_room()) {
    complete_ = false;
    return;
  }
  events_.push_back({Event::Kind::access, access.warp, access.lanes,
                     static_cast<std::uint32_t>(accesses_.size()), 0});
  accesses_.push_back(access);
}

void StepRecorder::see(const WarpStep& step) {
  if (!has_room()) {
    complete_ = false;
    return;
  }
  const auto kind = step.bytes > 0 ? Event::Kind::bulk : Event::Kind::begin;
  events_.push_back(
      {kind, step.warp, step.lanes, step.bytes > 0 ? step.offset : step.basic_block, step.bytes});
}

std::string StepRecorder::take(const LaunchReport& report, const Kernel& kernel) {
  std::string text = StepText(*this, report, kernel).text();
  events_.clear();
  accesses_.clear();
  complete_ = true;
  return text;
}

}  // namespace rung::vgpu
