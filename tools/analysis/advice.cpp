#include "tools/analysis/advice.hpp"

#include <array>

#include "tools/analysis/rules.hpp"

namespace rung::analysis {
namespace {

constexpr double better = 0.8;

/// Idle SMs in small problems are reported only if nothing else can be improved, or for tensor
/// cores, whose tiles are large.
bool is_reported(const Rule& rule, const Evidence& evidence, const std::vector<Finding>& found) {
  return rule.cause != Cause::few_tiles || found.empty() || evidence.uses_matrix_units();
}

}  // namespace

std::string name(Cause cause) {
  constexpr std::array names = {"scattered loads",
                                "idle lanes",
                                "global loads",
                                "shared loads",
                                "narrow accesses",
                                "bank conflicts",
                                "shared memory busy",
                                "exposed global loads",
                                "staging registers",
                                "exposed shared loads",
                                "intermediate stores",
                                "sums left to the CPU",
                                "instructions",
                                "barriers",
                                "few bytes in flight",
                                "launches",
                                "idle matrix units",
                                "drained tensor cores",
                                "prologues and epilogues",
                                "L2 busy",
                                "stores by threads",
                                "idle SMs",
                                "few tiles",
                                "refused sizes",
                                "rounding"};
  return names[static_cast<std::size_t>(cause)];
}

std::vector<Finding> findings(const Evidence& evidence) {
  std::vector<Finding> found;
  for (const Rule& rule : rules()) {
    if (!rule.is_cause(evidence) || !is_reported(rule, evidence, found)) continue;
    const double value = rule.value(evidence);
    found.push_back(
        {rule.cause, rule.detail(evidence, value), rule.quantity, value, rule.threshold(evidence)});
  }
  return found;
}

std::string remedy(const Finding& finding, const Evidence& evidence,
                   const std::function<const Evidence*()>& next) {
  const Rule& rule = rules()[static_cast<std::size_t>(finding.cause)];
  const double worst = better * rule.badness(evidence);
  while (const Evidence* candidate = next()) {
    if (rule.badness(*candidate) <= worst) return candidate->id;
  }
  return "";
}

}  // namespace rung::analysis
