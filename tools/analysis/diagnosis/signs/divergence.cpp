// Signs of lanes, warps and blocks that wait for others.

#include "tools/analysis/diagnosis/signs/common.hpp"

namespace rung::analysis::diagnosis::signs {
namespace {

double share_alone(const Facts& f) {
  return share_of(f, [](const Instruction&, const SiteCount& site) { return runs_alone(site); });
}

}  // namespace

bool has_strided_tree(const Facts& f) {
  double conflicts = 0, requests = 0;
  for (const Access& access : f.trace.accesses) {
    if (access.space != Space::shared) continue;
    conflicts += access.conflict_wavefronts();
    requests += number(access.count.executions);
  }
  return waits_for_few_warps(f) && conflicts > requests;
}
std::string strided_tree(const Facts& f) {
  return fmt::format("{}; {:.0f} % of the lanes wait at the steps of a tree, {}", conflicts(f),
                     100 * idle_share(f), barriers(f));
}

bool works_alone(const Facts& f) { return share_alone(f) > 0.3; }
std::string alone(const Facts& f) {
  return fmt::format("{:.0f} % of the instructions run with one or two lanes of the warp",
                     100 * share_alone(f));
}

bool diverges(const Facts& f) {
  return !diverges_by_data(f) && f.trace.counters.divergent_branches > 0 && idle_share(f) > 0.1;
}
std::string divergence(const Facts& f) {
  return fmt::format(
      "lanes of a warp part at {:.0f} % of its branches: {:.0f} % of the lanes wait "
      "while others work",
      100 * share(number(f.trace.counters.divergent_branches), number(f.trace.counters.branches)),
      100 * idle_share(f));
}

bool diverges_by_data(const Facts& f) {
  if (f.trace.counters.divergent_branches == 0 || idle_share(f) <= 0.1) return false;
  const std::set<int> decided = branches_decided_by(f.text, is_data_load);
  double by_data = 0, all = 0;
  for (const SiteCount& site : f.trace.sites) {
    const Instruction& instruction = *f.instructions.at(site.ptx_line);
    if (instruction.opcode != vgpu::ptx::Opcode::bra || instruction.guard < 0) continue;
    const double idle =
        f.full_lanes() * number(site.executions) - number(site.lanes) + number(site.executions);
    all += idle;
    if (decided.contains(site.ptx_line)) by_data += idle;
  }
  return by_data > 0.5 * all;
}
std::string divergence_by_data(const Facts& f) {
  return divergence(f) + "; loaded values decide these branches";
}

bool has_partial_warps(const Facts& f) { return f.full_lanes() < 29; }
std::string partial_warps(const Facts& f) {
  return fmt::format(
      "a block of {} threads takes {:.0f} warps of 32: {:.0f} % of the lanes have no "
      "thread",
      f.trace.block.count(), f.warps_of_block(), 100 * (1 - f.full_lanes() / 32));
}

/// The number of accesses of the warp or block with the most, relative to the mean.
double unevenness(const Facts& f, std::uint64_t most, double of) {
  return share(number(most) * of, number(f.footprint.accesses));
}

/// If a block has more work because of a single warp, the finding is about warps.
bool has_uneven_blocks(const Facts& f) {
  const double blocks = unevenness(f, f.footprint.max_of_block, f.blocks());
  const double warps = unevenness(f, f.footprint.max_of_warp, f.warps());
  const bool by_one_warp = has_uneven_warps(f) && warps > 2 * blocks;
  return blocks > 2 && !by_one_warp;
}
std::string uneven_blocks(const Facts& f) {
  return fmt::format(
      "one block makes {:.1f} times as many accesses as the mean block",
      share(number(f.footprint.max_of_block) * f.blocks(), number(f.footprint.accesses)));
}

bool has_uneven_warps(const Facts& f) {
  return !has_frequent_barriers(f) &&
         number(f.footprint.max_of_warp) * f.warps() > 2 * number(f.footprint.accesses);
}
std::string uneven_warps(const Facts& f) {
  return fmt::format(
      "one warp makes {:.1f} times as many accesses as the mean warp, and the others "
      "of its block wait for it",
      share(number(f.footprint.max_of_warp) * f.warps(), number(f.footprint.accesses)));
}

}  // namespace rung::analysis::diagnosis::signs
