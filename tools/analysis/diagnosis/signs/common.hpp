#pragma once
// Parts of the signs, shared by their files.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "tools/analysis/diagnosis/dataflow.hpp"
#include "tools/analysis/diagnosis/instruction_cost.hpp"
#include "tools/analysis/diagnosis/signs.hpp"
#include "tools/analysis/diagnosis/source_names.hpp"
#include "tools/analysis/diagnosis/work.hpp"
#include "tools/analysis/resources.hpp"
#include "vgpu/ptx/opcodes.hpp"

namespace rung::analysis::diagnosis::signs {

using vgpu::ptx::Instruction;

inline double share(double part, double all) { return all > 0 ? part / all : 0; }

inline bool is_data_load(const Instruction& i) {
  return i.is_load() && (i.has("global") || i.has("shared"));
}

/// " at poly.cu:15", or nothing.
inline std::string at_line(const Facts& f, const Instruction& instruction) {
  const auto file = static_cast<std::size_t>(instruction.source.file);
  if (file == 0 || file >= f.text.files.size() || instruction.source.line == 0) return "";
  return fmt::format(" at {}:{}", std::filesystem::path(f.text.files[file]).filename().string(),
                     instruction.source.line);
}

/// The executed instruction with the most executions of those that fit; null if none does.
template <class F>
const Instruction* hottest(const Facts& f, const F& fits) {
  const Instruction* found = nullptr;
  std::uint64_t most_executions = 0;
  for (const SiteCount& site : f.trace.sites) {
    const Instruction& instruction = *f.instructions.at(site.ptx_line);
    if (site.executions <= most_executions || !fits(instruction)) continue;
    found = &instruction;
    most_executions = site.executions;
  }
  return found;
}

/// The share of issued instructions for which the predicate is true.
template <class F>
double share_of(const Facts& f, const F& holds) {
  double part = 0, all = 0;
  for (const SiteCount& site : f.trace.sites) {
    const Instruction& instruction = *f.instructions.at(site.ptx_line);
    const double slots = cost_of(instruction, f.device).slots * number(site.executions);
    all += slots;
    if (holds(instruction, site)) part += slots;
  }
  return share(part, all);
}

/// The share of lanes that wait while others of their warp work.
inline double idle_share(const Facts& f) {
  const vgpu::Counters& c = f.trace.counters;
  return 1 - share(number(c.thread_instructions), f.full_lanes() * number(c.instructions));
}

}  // namespace rung::analysis::diagnosis::signs
