#include "tools/analysis/diagnosis/diagnose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "core/rung.hpp"
#include "tools/analysis/diagnosis/diseases.hpp"

namespace rung::analysis::diagnosis {
namespace {

// A smaller share of the time is below the accuracy of the model.
constexpr double noticeable = 0.19;
// Far above the bound, there is more to gain, and smaller steps are worth taking.
constexpr double far_above_bound = 2, noticeable_far_above = 0.12;
// Smaller costs are reported if their sum is at least this share.
constexpr double noticeable_together = 0.25, part_of_several = 0.02;

/// A problem that applies, and the share of the time that its solution would save.
struct Candidate {
  const Disease* disease;
  double cost;
  double seconds;  // predicted, with the launch
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
    const Time cured = time_of(facts, disease.cure);
    all.push_back({&disease, 1 - cured.seconds / seconds, cured.with_launch()});
  }
  return all;
}

/// The candidates that cost enough individually or, if none does, together.
std::vector<Candidate> worth_telling(const Facts& facts, std::vector<Candidate> all,
                                     double seconds) {
  std::vector<Candidate> single = all;
  const bool far = time_of(facts).above_bound() > far_above_bound;
  std::erase_if(single, [&](const Candidate& one) {
    return one.cost < (far ? noticeable_far_above : noticeable);
  });
  if (!single.empty()) return single;
  std::erase_if(all, [](const Candidate& one) { return one.cost < part_of_several; });
  Cure together;
  for (const Candidate& one : all) together = both(together, one.disease->cure);
  const double cost = 1 - time_of(facts, together).seconds / seconds;
  return cost < noticeable_together ? single : all;
}

Finding finding_of(const Candidate& candidate, const Facts& facts) {
  const Disease& disease = *candidate.disease;
  Finding finding{disease.name, disease.detail(facts), disease.remedy,   disease.code, "",
                  "",           candidate.cost,        candidate.seconds};
  if (*disease.rung != '\0') {
    const RungInfo& rung = *select({disease.rung}).front();
    finding.rung = rung.id;
    finding.idea = rung.idea;
  }
  return finding;
}

/// A program that mostly launches: what a launch of this kernel takes beside its work.
std::optional<Finding> launches_finding(const Facts& facts, const Time& time) {
  constexpr double several = 8, next_launch_seconds = 1.3e-6;
  if (facts.launches < several || time.launch < time.seconds) return std::nullopt;
  const double after = time.seconds + next_launch_seconds;
  return Finding{
      "launches",
      fmt::format(
          "the program launches the kernel {:.0f} times, and each launch takes {:.1f} us for "
          "{:.2g} us of work; a copy or a wait in between makes the GPU wait for the CPU, "
          "too",
          facts.launches, time.launch * 1e6, time.seconds * 1e6),
      "let one launch do the work of several: loop over the steps in the kernel, or merge it with "
      "its neighbours; or record the launches in a CUDA graph; keep data on the GPU instead of "
      "copying between launches",
      "cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);  // once\n"
      "for (…) step<<<grid, block, 0, s>>>(…);\n"
      "cudaStreamEndCapture(s, &graph);",
      "",
      "",
      1 - after / time.with_launch(),
      after};
}

}  // namespace

Diagnosis diagnose(const Facts& facts) {
  Diagnosis diagnosis{time_of(facts), {}};
  const double seconds = diagnosis.time.seconds;
  for (const Candidate& one : worth_telling(facts, candidates_of(facts, seconds), seconds)) {
    diagnosis.findings.push_back(finding_of(one, facts));
  }
  if (const auto launches = launches_finding(facts, diagnosis.time)) {
    // Less work in a launch shortens the program hardly.
    std::erase_if(diagnosis.findings, [&](const Finding& finding) {
      return 1 - finding.seconds_after / diagnosis.time.with_launch() < noticeable;
    });
    diagnosis.findings.push_back(*launches);
  }
  std::stable_sort(
      diagnosis.findings.begin(), diagnosis.findings.end(),
      [](const Finding& a, const Finding& b) { return a.seconds_after < b.seconds_after; });
  return diagnosis;
}

}  // namespace rung::analysis::diagnosis
