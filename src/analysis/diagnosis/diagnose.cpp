#include "analysis/diagnosis/diagnose.hpp"

#include <algorithm>

#include "analysis/diagnosis/diseases.hpp"
#include "core/rung.hpp"

namespace rung::analysis::diagnosis {
namespace {

// Below that share of the time, the model cannot tell.
constexpr double noticeable = 0.19;

}  // namespace

Diagnosis diagnose(const Facts& facts) {
  Diagnosis diagnosis{time_of(facts), {}};
  for (const Disease& disease : diseases()) {
    if (!disease.applies(facts)) continue;
    const double cost = 1 - time_of(facts, disease.cure).seconds / diagnosis.time.seconds;
    if (cost < noticeable) continue;
    Finding finding{disease.name, disease.detail(facts), disease.remedy, disease.code, "", "",
                    cost};
    if (*disease.rung != '\0') {
      const RungInfo& rung = *select({disease.rung}).front();
      finding.rung = rung.id;
      finding.idea = rung.idea;
    }
    diagnosis.findings.push_back(std::move(finding));
  }
  std::stable_sort(diagnosis.findings.begin(), diagnosis.findings.end(),
                   [](const Finding& a, const Finding& b) { return a.cost > b.cost; });
  return diagnosis;
}

}  // namespace rung::analysis::diagnosis
