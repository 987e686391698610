// Signs of a launch that leaves the device idle: too few blocks or warps, and waits for loads and
// at barriers.

#include "tools/analysis/diagnosis/signs/common.hpp"

namespace rung::analysis::diagnosis::signs {
namespace {

double resident_warps(const Facts& f) { return f.occupancy.blocks * f.warps_of_block(); }

}  // namespace

bool has_few_blocks(const Facts& f) { return f.blocks() < f.machine.multiprocessors; }
std::string few_blocks(const Facts& f) {
  return fmt::format("{:.0f} block{} for {} SMs", f.blocks(), f.blocks() == 1 ? "" : "s",
                     f.machine.multiprocessors);
}

bool has_tail(const Facts& f) { return f.blocks() > f.machine.multiprocessors; }
std::string tail(const Facts& f) {
  const double one = f.machine.multiprocessors * std::max(1, f.occupancy.blocks);
  return fmt::format(
      "{:.0f} blocks are {:.2f} waves of {:.0f}: during the last one, most SMs have "
      "less to do",
      f.blocks(), f.blocks() / one, one);
}

/// True if registers limit the blocks, and a limit that allows one more block makes ptxas spill.
bool needs_its_registers(const Facts& f) {
  const vgpu::Occupancy& o = f.occupancy;
  if (f.spills_with == nullptr || o.blocks == 0 || o.limit_by_registers != o.blocks) return false;
  const double of_thread =
      f.device.registers_per_multiprocessor / (o.blocks + 1.0) / (32 * f.warps_of_block());
  return (*f.spills_with)(static_cast<int>(of_thread) / 8 * 8);
}

bool has_few_warps(const Facts& f) {
  const double blocks_here = std::ceil(f.blocks() / f.machine.multiprocessors);
  return f.occupancy.fraction <= 0.5 && blocks_here >= f.occupancy.blocks &&
         !needs_its_registers(f);
}
std::string few_warps(const Facts& f) {
  return fmt::format(
      "an SM holds {:.0f} warps of this kernel, {:.0f} % of what it could: {} limit "
      "it to {} block{}",
      resident_warps(f), 100 * f.occupancy.fraction, binding_limit(f.occupancy), f.occupancy.blocks,
      f.occupancy.blocks == 1 ? "" : "s");
}

/// True if most loads from global memory are links of chains.
bool chases(const Facts& f) {
  const std::set<int> links = lines_with_own_address(
      f.text, [&](const Instruction& i) { return i.is_load() && i.has("global"); });
  double chained = 0, all = 0;
  for (const Access& access : f.trace.accesses) {
    if (access.space != Space::global || !access.is_load) continue;
    all += number(access.count.executions);
    if (links.contains(access.count.ptx_line)) chained += number(access.count.executions);
  }
  return chained > 2 * f.warps() && chained > 0.4 * all;
}
std::string chain_of_loads(const Facts& f) {
  const std::set<int> links = lines_with_own_address(
      f.text, [&](const Instruction& i) { return i.is_load() && i.has("global"); });
  const Instruction* link =
      hottest(f, [&](const Instruction& i) { return links.contains(i.line); });
  return fmt::format(
      "the address of the load{} comes from the load before (a chain of dependent loads), and "
      "{:.0f} "
      "warps to an SM have only as many in flight",
      link == nullptr ? "" : at_line(f, *link), resident_blocks(f) * f.warps_of_block());
}

bool waits_for_loads(const Facts& f) {
  return !chases(f) &&
         f.trace.counters.global_load_requests + f.trace.counters.shared_load_requests > 0;
}
std::string waiting(const Facts& f) {
  return fmt::format(
      "each load waits for the one before it, or for arithmetic: {:.0f} warps to an "
      "SM cannot hide that latency",
      std::min(resident_warps(f),
               std::ceil(f.blocks() / f.machine.multiprocessors) * f.warps_of_block()));
}

bool steps_through_shared(const Facts& f) {
  constexpr double few_loads = 6;  // of a warp, between two barriers
  const vgpu::Counters& c = f.trace.counters;
  return has_frequent_barriers(f) && !waits_for_few_warps(f) && c.shared_load_requests > 0 &&
         f.trace.matrix_units.instructions == 0 &&
         number(c.shared_load_requests) <= few_loads * number(c.barriers);
}
std::string barriers_of_steps(const Facts& f) {
  const vgpu::Counters& c = f.trace.counters;
  return fmt::format("{}, for {:.2g} loads from shared memory", barriers(f),
                     share(number(c.shared_load_requests), number(c.barriers)));
}

bool has_barriers(const Facts& f) {
  return !has_strided_tree(f) && !steps_through_shared(f) && f.trace.counters.barriers > 0;
}
std::string barriers(const Facts& f) {
  const vgpu::Counters& c = f.trace.counters;
  return fmt::format("a warp waits at a barrier every {:.0f} instructions",
                     share(number(c.instructions), number(c.barriers)));
}

}  // namespace rung::analysis::diagnosis::signs
