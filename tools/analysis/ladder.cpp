#include "tools/analysis/ladder.hpp"

#include <algorithm>
#include <deque>
#include <stdexcept>
#include <utility>

namespace rung::analysis {
namespace {

/// The rungs of a ladder after a given one, or all; each runs on demand. Skips rungs that do not
/// support the dtype or the device.
class Ladder {
 public:
  Ladder(const std::string& selector, const RungInfo* after, Examine examine)
      : rungs_(select({selector})), examine_(std::move(examine)) {
    const auto here = std::find(rungs_.begin(), rungs_.end(), after);
    if (here != rungs_.end()) rungs_.erase(rungs_.begin(), here + 1);
  }

  /// The index of a rung in the ladder; the ladder's size if not found.
  std::size_t place(const std::string& id) const {
    const auto is = [&](const RungInfo* rung) { return rung->id == id; };
    return static_cast<std::size_t>(std::find_if(rungs_.begin(), rungs_.end(), is) -
                                    rungs_.begin());
  }

  /// Returns null at the end of the ladder.
  const Evidence* at(std::size_t i) {
    while (evidence_.size() <= i && tried_ < rungs_.size()) {
      try {
        evidence_.push_back(examine_(*rungs_[tried_++]));
      } catch (const std::invalid_argument&) {
        continue;
      }
    }
    return i < evidence_.size() ? &evidence_[i] : nullptr;
  }

 private:
  std::vector<const RungInfo*> rungs_;
  Examine examine_;
  std::size_t tried_ = 0;
  std::deque<Evidence> evidence_;
};

}  // namespace

std::vector<Advice> advise(const Evidence& evidence, const std::string& selector,
                           const RungInfo* after, Examine examine) {
  Ladder ladder(selector, after, std::move(examine));
  std::vector<Advice> advice;
  for (const Finding& finding : findings(evidence)) {
    std::size_t i = 0;
    const auto next = [&] { return ladder.at(i++); };
    Advice one{finding, remedy(finding, evidence, next), ""};
    if (!one.rung.empty()) one.idea = select({one.rung}).front()->idea;
    advice.push_back(std::move(one));
  }
  std::stable_sort(advice.begin(), advice.end(), [&](const Advice& a, const Advice& b) {
    return ladder.place(a.rung) < ladder.place(b.rung);
  });
  return advice;
}

}  // namespace rung::analysis
