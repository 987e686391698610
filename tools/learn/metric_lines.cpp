#include "tools/learn/metric_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

namespace rung::learn {
namespace {

using analysis::Access;
using analysis::Space;
using vgpu::ptx::Instruction;

/// An executed instruction; `access` is null if it moves no data.
struct Executed {
  const Instruction& instruction;
  const analysis::SiteCount& count;
  const Access* access;

  bool is(Space space, bool is_load) const {
    return access != nullptr && access->space == space && access->is_load == is_load;
  }
  double times() const { return static_cast<double>(count.executions); }
};

double units_of(const Executed& of, Space space, bool is_load) {
  return of.is(space, is_load) ? static_cast<double>(of.count.units) : 0;
}

double times_of(const Executed& of, Space space, bool is_load) {
  return of.is(space, is_load) ? of.times() : 0;
}

/// The bytes that the accesses move less than 16.
double narrow_bytes(const Executed& of, Space space, bool is_load) {
  constexpr int widest = 16;
  return of.is(space, is_load) ? of.times() * std::max(0, widest - of.access->bytes) : 0;
}

bool is_block_barrier(const Instruction& instruction) {
  const std::string_view word = instruction.word();
  return (word == "bar" || word == "barrier") && !instruction.has("warp");
}

bool is_atomic(const Instruction& instruction) {
  return instruction.word() == "atom" || instruction.word() == "red";
}

/// A line's contribution to a metric, and its unit for each execution in a sentence.
struct Share {
  const char* metric;
  double (*weight)(const Executed&);
  const char* unit;  // null: executions
};

constexpr std::array shares = {
    Share{"sectors_per_load", [](const Executed& of) { return units_of(of, Space::global, true); },
          "sectors"},
    Share{"sectors_per_store",
          [](const Executed& of) { return units_of(of, Space::global, false); }, "sectors"},
    Share{"global_loads_per_fma",
          [](const Executed& of) { return times_of(of, Space::global, true); }, nullptr},
    Share{"global_stores_per_fma",
          [](const Executed& of) { return times_of(of, Space::global, false); }, nullptr},
    Share{"shared_loads_per_fma",
          [](const Executed& of) { return times_of(of, Space::shared, true); }, nullptr},
    Share{"wavefronts_per_fma",
          [](const Executed& of) { return units_of(of, Space::shared, true); }, "wavefronts"},
    Share{"bank_conflicts",
          [](const Executed& of) {
            return of.access == nullptr ? 0 : of.access->conflict_wavefronts();
          },
          "wavefronts"},
    Share{"load_conflicts",
          [](const Executed& of) {
            return of.is(Space::shared, true) ? of.access->conflict_wavefronts() : 0;
          },
          "wavefronts"},
    Share{"bytes_per_global_load",
          [](const Executed& of) { return narrow_bytes(of, Space::global, true); }, "bytes"},
    Share{"bytes_per_global_store",
          [](const Executed& of) { return narrow_bytes(of, Space::global, false); }, "bytes"},
    Share{"bytes_per_shared_load",
          [](const Executed& of) { return narrow_bytes(of, Space::shared, true); }, "bytes"},
    Share{"barriers_per_warp",
          [](const Executed& of) { return is_block_barrier(of.instruction) ? of.times() : 0; },
          nullptr},
    Share{"atomics", [](const Executed& of) { return is_atomic(of.instruction) ? of.times() : 0; },
          nullptr},
    Share{"fmas_by_threads",
          [](const Executed& of) { return of.instruction.word() == "fma" ? of.times() : 0; },
          nullptr},
    Share{"local_accesses",
          [](const Executed& of) { return of.instruction.has("local") ? of.times() : 0; }, nullptr},
};

struct Line {
  double weight = 0, times = 0, units = 0;
  int bytes = 0;
};

std::string detail(const Share& share, const Line& line) {
  if (share.unit == nullptr) return fmt::format("warps execute it {:.0f} times", line.times);
  if (std::string_view(share.unit) == "bytes") return fmt::format("{} bytes a lane", line.bytes);
  return fmt::format("{:.3g} {} each time", line.units / line.times, share.unit);
}

}  // namespace

std::string worst_line(const Measured& run, const Goal& goal) {
  if (goal.metric == "needless_barriers") return run.needless_line;
  const auto share =
      std::ranges::find_if(shares, [&](const Share& known) { return goal.metric == known.metric; });
  if (share == shares.end()) return "";
  const analysis::InstructionsByLine instructions = analysis::by_line(*run.text);
  std::map<int, const Access*> accesses;
  for (const Access& access : run.trace.accesses) accesses[access.count.ptx_line] = &access;
  std::map<std::string, Line> lines;
  for (const analysis::SiteCount& site : run.trace.sites) {
    const auto access = accesses.find(site.ptx_line);
    const Executed executed = {*instructions.at(site.ptx_line), site,
                               access == accesses.end() ? nullptr : access->second};
    const double weight = share->weight(executed);
    if (weight <= 0) continue;
    Line& line = lines[analysis::source_of(executed.instruction, *run.text)];
    line.weight += weight;
    line.times += executed.times();
    line.units += static_cast<double>(site.units);
    if (executed.access != nullptr) line.bytes = executed.access->bytes;
  }
  lines.erase("");
  if (lines.empty()) return "";
  const auto worst =
      std::ranges::max_element(lines, {}, [](const auto& line) { return line.second.weight; });
  return fmt::format("{}: {}", worst->first, detail(*share, worst->second));
}

}  // namespace rung::learn
