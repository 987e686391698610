#include "tools/analysis/diagnosis/diagnose.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "core/rung.hpp"
#include "tools/analysis/diagnosis/diseases.hpp"

namespace rung::analysis::diagnosis {
namespace {

// A smaller share of the time is below the accuracy of the model.
constexpr double noticeable = 0.19;
// Smaller costs are reported if their sum is at least this share.
constexpr double noticeable_together = 0.25, part_of_several = 0.02;

/// A problem that applies, and the share of the time that its solution would save.
struct Candidate {
  const Disease* disease;
  double cost;
};

Cure both(const Cure& a, const Cure& b) {
  using Flags = std::array<bool, sizeof(Cure)>;
  const auto first = std::bit_cast<Flags>(a), second = std::bit_cast<Flags>(b);
  Flags either;
  for (std::size_t i = 0; i < either.size(); ++i) either[i] = first[i] || second[i];
  return std::bit_cast<Cure>(either);
}

std::vector<Candidate> candidates_of(const Facts& facts, double seconds) {
  std::vector<Candidate> all;
  for (const Disease& disease : diseases()) {
    if (!disease.applies(facts)) continue;
    all.push_back({&disease, 1 - time_of(facts, disease.cure).seconds / seconds});
  }
  return all;
}

/// The candidates that cost enough individually or, if none does, together.
std::vector<Candidate> worth_telling(const Facts& facts, std::vector<Candidate> all,
                                     double seconds) {
  std::vector<Candidate> single = all;
  std::erase_if(single, [](const Candidate& one) { return one.cost < noticeable; });
  if (!single.empty()) return single;
  std::erase_if(all, [](const Candidate& one) { return one.cost < part_of_several; });
  Cure together;
  for (const Candidate& one : all) together = both(together, one.disease->cure);
  const double cost = 1 - time_of(facts, together).seconds / seconds;
  return cost < noticeable_together ? single : all;
}

Finding finding_of(const Candidate& candidate, const Facts& facts) {
  const Disease& disease = *candidate.disease;
  Finding finding{disease.name, disease.detail(facts), disease.remedy, disease.code, "",
                  "",           candidate.cost};
  if (*disease.rung != '\0') {
    const RungInfo& rung = *select({disease.rung}).front();
    finding.rung = rung.id;
    finding.idea = rung.idea;
  }
  return finding;
}

}  // namespace

Diagnosis diagnose(const Facts& facts) {
  Diagnosis diagnosis{time_of(facts), {}};
  const double seconds = diagnosis.time.seconds;
  for (const Candidate& one : worth_telling(facts, candidates_of(facts, seconds), seconds)) {
    diagnosis.findings.push_back(finding_of(one, facts));
  }
  std::stable_sort(diagnosis.findings.begin(), diagnosis.findings.end(),
                   [](const Finding& a, const Finding& b) { return a.cost > b.cost; });
  return diagnosis;
}

}  // namespace rung::analysis::diagnosis
