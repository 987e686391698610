#include "vgpu/step_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <utility>

#include "vgpu/step_sample.hpp"

namespace rung::vgpu {
namespace {

constexpr std::size_t max_steps = 500, last_steps = 100;
constexpr std::uint32_t max_cells = 1024, smallest_cell = 16;

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

/// True for accesses, barriers and other waits, and tensor-core instructions.
bool is_shown_alone(const Site& site) {
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

class StepText {
 public:
  StepText(const StepEvents& events, const LaunchReport& report, const Kernel& kernel)
      : events_(events),
        sample_(events, kernel),
        sites_(sites(kernel)),
        shared_(static_cast<std::uint32_t>(report.shared)) {
    while (shared_ / cell_ > max_cells) cell_ *= 2;
    std::string warps;
    for (const int warp : sample_.warps()) {
      if (!warps.empty()) warps += ',';
      warps += warp_json(warp);
    }
    const auto extent = [](const Dim3& of) { return fmt::format("[{},{},{}]", of.x, of.y, of.z); };
    text_ = fmt::format(
        "{{\"block\":{},\"grid\":{},\"shared\":{},\"cell\":{},\"complete\":{},\"ops\":{},"
        "\"places\":{},\"warps\":[{}]}}",
        extent(report.block), extent(report.grid), shared_, cell_, events.complete,
        array(ops_.all()), array(places_.all()), warps);
  }

  const std::string& text() const { return text_; }

 private:
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
      const StepEvent& event = events_.all[i];
      if (event.kind == StepEvent::Kind::bulk) add(event.index, event.bytes);
      if (event.kind != StepEvent::Kind::access) continue;
      const WarpAccess& access = events_.accesses[event.index];
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
    std::vector<std::size_t> ops;  // pairs of op and count
    std::size_t order;             // index of the event that it belongs to
    std::size_t skipped;
    std::string access;
    bool alone;
    std::size_t instructions = 1;
  };

  void add_instruction(std::vector<Step>& steps, std::uint32_t site,
                       const StepSample::Execution& execution, std::size_t skipped) {
    const std::size_t op = ops_.index(sites_[site].mnemonic);
    const std::string& where = sites_[site].where;
    const std::size_t place = places_.index(where.substr(where.rfind('/') + 1));
    const std::uint32_t lanes = events_.all[execution.event].lanes;
    const bool alone = is_shown_alone(sites_[site]);
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
      step.access +=
          access_json(events_.accesses[events_.all[step.order].index], met->second.size() - 1);
    }
    steps.push_back(std::move(step));
  }

  std::string warp_json(int warp) {
    std::size_t shown = 0;
    std::vector<Step> steps;
    for (const StepSample::Execution& execution : sample_.executions_of(warp)) {
      std::size_t skipped = execution.skipped;
      for (const std::uint32_t site : sample_.sites_in(events_.all[execution.event].index)) {
        add_instruction(steps, site, execution, std::exchange(skipped, 0));
      }
    }
    if (steps.size() > max_steps) {  // keep the start and the end
      const auto first = steps.begin() + (max_steps - last_steps), end = steps.end() - last_steps;
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
    return fmt::format("{{\"warp\":{},\"instructions\":{},\"shown\":{},\"steps\":[{}]}}", warp,
                       sample_.instructions_of(warp), shown, json);
  }

  const StepEvents& events_;
  StepSample sample_;
  const std::vector<Site>& sites_;
  std::uint32_t shared_, cell_ = smallest_cell;
  Names ops_, places_;
  std::string text_;
};

}  // namespace

std::string step_text(const StepEvents& events, const LaunchReport& report, const Kernel& kernel) {
  return StepText(events, report, kernel).text();
}

}  // namespace rung::vgpu
