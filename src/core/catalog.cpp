#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "core/rung.hpp"
#include "core/rung_texts.hpp"

namespace rung {

namespace {

/// `op`, `op/backend`, or `op/backend/` and a prefix of the slug.
bool matches(const RungInfo& rung, std::string_view selector) {
  const std::string ladder = rung.op + "/" + rung.backend;
  return selector == rung.op || selector == ladder ||
         (selector.size() > ladder.size() + 1 && rung.id.starts_with(selector));
}

std::string known_ladders() {
  std::string ladders;
  for (const RungInfo& rung : catalog()) {
    const std::string ladder = rung.op + "/" + rung.backend;
    if (ladders.ends_with(ladder)) continue;
    if (!ladders.empty()) ladders += ", ";
    ladders += ladder;
  }
  return ladders;
}

}  // namespace

const std::vector<RungInfo>& catalog() {
  static const std::vector<RungInfo> rungs = [] {
    std::vector<RungInfo> parsed;
    for (const auto& [id, text] : rung_texts()) parsed.push_back(parse_rung(id, text));
    return parsed;
  }();
  return rungs;
}

std::vector<const RungInfo*> select(const std::vector<std::string>& selectors) {
  const auto matches_any = [](const RungInfo& rung, const std::vector<std::string>& wanted) {
    return std::any_of(wanted.begin(), wanted.end(),
                       [&](const std::string& selector) { return matches(rung, selector); });
  };
  for (const std::string& selector : selectors) {
    const auto& all = catalog();
    if (std::none_of(all.begin(), all.end(),
                     [&](const RungInfo& rung) { return matches(rung, selector); })) {
      throw std::invalid_argument(fmt::format(
          "'{}' selects no rung; it should be an op, op/backend or op/backend/NN of: {}", selector,
          known_ladders()));
    }
  }
  std::vector<const RungInfo*> selected;
  for (const RungInfo& rung : catalog()) {
    if (selectors.empty() || matches_any(rung, selectors)) selected.push_back(&rung);
  }
  return selected;
}

}  // namespace rung
