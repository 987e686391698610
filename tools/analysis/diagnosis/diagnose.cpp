#include "tools/analysis/diagnosis/diagnose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>
#include <utility>

#include "core/rung.hpp"
#include "tools/analysis/diagnosis/diseases.hpp"
#include "tools/analysis/diagnosis/work.hpp"

namespace rung::analysis::diagnosis {
namespace {

// A smaller share of the time is below the accuracy of the model.
constexpr double noticeable = 0.19;
// Far above the bound, there is more to gain, and smaller steps are worth taking. In between, the
// share falls evenly.
constexpr double near_bound = 1.5, far_above_bound = 2, noticeable_far_above = 0.12;
// Smaller costs are reported if their sum is at least this share.
constexpr double noticeable_together = 0.25, part_of_several = 0.02;

// The model does not tell smaller differences of the time apart.
constexpr double equal_share = 0.02;

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

/// The launches of a call, and their times.
struct Call {
  std::span<const Facts> launches;
  std::vector<Time> times;
  const Facts* longest;
  Time time;
};

Call call_of(std::span<const Facts> launches, double other_seconds) {
  Call call{launches, {}, nullptr, {}};
  for (const Facts& launch : launches) {
    call.times.push_back(time_of(launch));
    add_launch(call.time, call.times.back());
  }
  call.time.launch += other_seconds;
  const auto longest = std::ranges::max_element(call.times, {}, &Time::seconds);
  call.longest = &launches[static_cast<std::size_t>(longest - call.times.begin())];
  return call;
}

/// The time without the launches themselves, if a cure changes those that a condition is true for.
template <class Applies>
double cured_seconds(const Call& call, const Cure& cure, const Applies& applies) {
  double seconds = 0;
  for (std::size_t i = 0; i < call.launches.size(); ++i) {
    const Facts& launch = call.launches[i];
    seconds += applies(launch) ? time_of(launch, cure).seconds : call.times[i].seconds;
  }
  return seconds;
}

std::vector<Candidate> candidates_of(const Call& call) {
  std::vector<Candidate> all;
  for (const Disease& disease : diseases()) {
    if (!disease.applies(*call.longest)) continue;
    const double seconds = cured_seconds(call, disease.cure, disease.applies);
    all.push_back({&disease, 1 - seconds / call.time.seconds, seconds + call.time.launch});
  }
  return all;
}

/// The candidates that cost enough individually or, if none does, together.
std::vector<Candidate> worth_telling(const Call& call, std::vector<Candidate> all) {
  std::vector<Candidate> single = all;
  const double far =
      std::clamp((call.time.above_bound() - near_bound) / (far_above_bound - near_bound), 0.0, 1.0);
  const double least = std::lerp(noticeable, noticeable_far_above, far);
  std::erase_if(single, [&](const Candidate& one) { return one.cost < least; });
  if (!single.empty()) return single;
  std::erase_if(all, [](const Candidate& one) { return one.cost < part_of_several; });
  Cure together;
  for (const Candidate& one : all) together = both(together, one.disease->cure);
  const double seconds = cured_seconds(call, together, [](const Facts&) { return true; });
  return 1 - seconds / call.time.seconds < noticeable_together ? single : all;
}

/// True for a kernel that stores few elements of the many it loads.
bool is_reduction(const Facts& facts) {
  constexpr double many = 16;
  return number(facts.footprint.loaded_sectors) > many * number(facts.footprint.stored_sectors);
}

Finding finding_of(const Candidate& candidate, const Facts& facts) {
  const Disease& disease = *candidate.disease;
  Finding finding{disease.name, disease.detail(facts), disease.remedy,   disease.code, "",
                  "",           candidate.cost,        candidate.seconds};
  const char* const shown = is_reduction(facts) ? disease.rung_of_sums : disease.rung;
  if (*shown != '\0') {
    const RungInfo& rung = *select({shown}).front();
    finding.rung = rung.id;
    finding.idea = rung.idea;
  }
  return finding;
}

constexpr const char* fewer_launches =
    "let one launch do the work of several: loop over the steps in the kernel, or merge it with "
    "its neighbours; or record the launches in a CUDA graph; keep data on the GPU instead of "
    "copying between launches";
constexpr const char* graph_of_launches =
    "cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);  // once\n"
    "for (…) step<<<grid, block, 0, s>>>(…);\n"
    "cudaStreamEndCapture(s, &graph);";

Finding finding_of_launches(const Time& time, std::string detail, double after) {
  return {"launches",
          std::move(detail),
          fewer_launches,
          graph_of_launches,
          "",
          "",
          1 - after / time.with_launch(),
          after};
}

/// A program that mostly launches: what a launch of this kernel takes beside its work.
std::optional<Finding> launches_of_program(const Facts& facts, const Time& time) {
  constexpr double several = 8;
  if (facts.launches < several || time.launch < time.seconds) return std::nullopt;
  return finding_of_launches(
      time,
      fmt::format(
          "the program launches the kernel {:.0f} times, and each launch takes {:.1f} us for "
          "{:.2g} us of work; a copy or a wait in between makes the GPU wait for the CPU, "
          "too",
          facts.launches, time.launch * 1e6, time.seconds * 1e6),
      time.seconds + next_launch_seconds);
}

/// A call of several launches that could be one.
std::optional<Finding> launches_of_call(const Call& call) {
  const double after = call.time.seconds + call.times.front().launch;
  if (1 - after / call.time.with_launch() < noticeable) return std::nullopt;
  return finding_of_launches(
      call.time,
      fmt::format("{} launches and what is between them take {:.2g} us before and after {:.2g} us "
                  "of work",
                  call.launches.size(), call.time.launch * 1e6, call.time.seconds * 1e6),
      after);
}

}  // namespace

Diagnosis diagnose(std::span<const Facts> launches, double other_seconds) {
  const Call call = call_of(launches, other_seconds);
  Diagnosis diagnosis{call.time, {}};
  for (const Candidate& one : worth_telling(call, candidates_of(call))) {
    diagnosis.findings.push_back(finding_of(one, *call.longest));
  }
  if (const auto many = launches_of_program(*call.longest, call.time)) {
    // Less work in a launch shortens the program hardly.
    std::erase_if(diagnosis.findings, [&](const Finding& finding) {
      return 1 - finding.seconds_after / call.time.with_launch() < noticeable;
    });
    diagnosis.findings.push_back(*many);
  }
  if (const auto several = launches_of_call(call)) diagnosis.findings.push_back(*several);
  // Causes that cost about the same stay in the order of diseases(), the specific ones first.
  double best = call.time.with_launch();
  for (const Finding& finding : diagnosis.findings) best = std::min(best, finding.seconds_after);
  const auto rank = [&](const Finding& finding) {
    return std::floor((finding.seconds_after - best) / (equal_share * call.time.with_launch()));
  };
  std::ranges::stable_sort(diagnosis.findings, {}, rank);
  return diagnosis;
}

}  // namespace rung::analysis::diagnosis
