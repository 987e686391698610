#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "core/rung.hpp"
#include "core/rung_texts.hpp"

namespace rung {

namespace {

/// `op`, `op/backend`, or `op/backend/` and a prefix of the slug.
bool matches_today(const RungInfo& rung, std::string_view selector) {
  const std::string ladder = rung.op + "/" + rung.backend;
  return selector == rung.op || selector == ladder ||
         (selector.size() > ladder.size() + 1 && rung.id.starts_with(selector));
}

/// Returns the former id of the rung that begins with the selector, or null.
const FormerId* former_match(const RungInfo& rung, std::string_view selector) {
  const auto found = std::ranges::find_if(former_ids, [&](const FormerId& known) {
    const std::size_t slug = known.former.rfind('/') + 1;
    return known.id == rung.id && selector.size() > slug && known.former.starts_with(selector);
  });
  return found == std::end(former_ids) ? nullptr : &*found;
}

bool is_id(std::string_view selector) {
  return std::ranges::any_of(catalog(), [&](const RungInfo& rung) { return rung.id == selector; });
}

/// True if the selector selects rungs by today's ids, so that former ids do not count.
bool is_of_today(std::string_view selector) {
  return std::ranges::any_of(catalog(),
                             [&](const RungInfo& rung) { return matches_today(rung, selector); });
}

/// An id selects one rung, although other ids may begin with it.
bool matches(const RungInfo& rung, std::string_view selector) {
  if (is_id(selector)) return rung.id == selector;
  return matches_today(rung, selector) ||
         (former_match(rung, selector) != nullptr && !is_of_today(selector));
}

std::string known_ladders() {
  std::string ladders;
  for (const RungInfo& rung : catalog()) {
    const std::string ladder = rung.op + "/" + rung.backend;
    if (!rung.is_on_ladder() || ladders.ends_with(ladder)) continue;
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

std::string usual_gpu(const RungInfo& rung) {
  if (rung.backend == "metal") return "m1pro";
  return rung.needs.starts_with("sm_100a") ? "b200" : "h200";
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

std::vector<FormerId> former_ids_in(const std::vector<std::string>& selectors) {
  std::vector<FormerId> found;
  for (const std::string& selector : selectors) {
    for (const RungInfo& rung : catalog()) {
      const FormerId* const former = former_match(rung, selector);
      if (former != nullptr && !is_of_today(selector)) found.push_back(*former);
    }
  }
  return found;
}

}  // namespace rung
