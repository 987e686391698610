#include "tools/analysis/remedies.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

namespace rung::analysis {
namespace {

/// The rungs of a ladder after a given one, each diagnosed on demand. Skips rungs that do not
/// support the dtype or the device.
class LaterRungs {
 public:
  LaterRungs(const RungInfo& here, const Diagnose& diagnose)
      : rungs_(select({here.op + "/" + here.backend})), diagnose_(diagnose) {
    std::erase_if(rungs_, [&](const RungInfo* rung) { return !rung->is_on_ladder(); });
    const auto at = std::ranges::find(rungs_, &here);
    rungs_.erase(rungs_.begin(), at == rungs_.end() ? at : at + 1);
  }

  struct Later {
    const RungInfo* rung;
    diagnosis::Diagnosis diagnosis;
  };

  /// Returns null at the end of the ladder.
  const Later* at(std::size_t i) {
    while (later_.size() <= i && tried_ < rungs_.size()) {
      const RungInfo* rung = rungs_[tried_++];
      try {
        if (auto diagnosed = diagnose_(*rung)) later_.push_back({rung, std::move(*diagnosed)});
      } catch (const std::invalid_argument&) {
        continue;
      }
    }
    return i < later_.size() ? &later_[i] : nullptr;
  }

 private:
  std::vector<const RungInfo*> rungs_;
  const Diagnose& diagnose_;
  std::size_t tried_ = 0;
  std::vector<Later> later_;
};

/// The seconds that a cause costs; 0 if it costs little.
double lost_seconds(const diagnosis::Diagnosis& diagnosis, const std::string& cause) {
  const auto found = std::ranges::find(diagnosis.findings, cause, &diagnosis::Finding::name);
  return found == diagnosis.findings.end() ? 0
                                           : diagnosis.time.with_launch() - found->seconds_after;
}

}  // namespace

void cite_rungs(diagnosis::Diagnosis& of, const RungInfo& here, const Diagnose& diagnose) {
  constexpr double clearly_less = 0.8;
  LaterRungs rungs(here, diagnose);
  for (diagnosis::Finding& finding : of.findings) {
    finding.rung = finding.idea = "";
    const double most = clearly_less * lost_seconds(of, finding.name);
    for (std::size_t i = 0; const LaterRungs::Later* later = rungs.at(i); ++i) {
      if (lost_seconds(later->diagnosis, finding.name) > most) continue;
      finding.rung = later->rung->id;
      finding.idea = later->rung->idea;
      break;
    }
  }
}

}  // namespace rung::analysis
