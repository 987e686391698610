#include "tools/learn/cause.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "tools/learn/causes.hpp"
#include "tools/learn/kernel_form.hpp"

namespace rung::learn {
namespace {

using vgpu::Hazard;
using vgpu::HazardKind;

/// True if a larger problem may tell more: one element, or one tile, says little about indices.
bool says_little(const std::optional<Cause>& cause) {
  return !cause || cause->key == "wrong/nothing" || cause->key == "wrong/terms" ||
         cause->key == "not_stored/nothing";
}

/// The cause of wrong or missing results, for the first size that tells it.
std::optional<Cause> cause_without_hazard(const Failure& failure) {
  const auto cause_at = [](const Failure& at) {
    return at.run.error->is_stored ? cause_of_wrong_sum(at) : cause_of_missing(at);
  };
  const bool is_vector = failure.code.form.is_vector;
  const bool is_smallest = failure.size.m == 1 && failure.size.n == 1;
  std::optional<Cause> found;
  if (!is_smallest) found = cause_at(failure);
  for (const Size& size : failure.exercise.sizes) {
    if (!says_little(found)) break;
    const Run run = Trial(failure.code).run(size);
    if (!run.error || run.report.fault || size == failure.size) continue;
    auto cause = cause_at({failure.exercise, failure.code, failure.file, size, run});
    if (says_little(cause)) continue;
    cause->text = fmt::format("for {}, {}", to_string(size, is_vector), cause->text);
    found = cause;
  }
  return found ? found : cause_at(failure);
}

}  // namespace

bool is_right(const Code& code, const Size& size) {
  try {
    const Run run = Trial(code).run(size);
    return !run.error && std::ranges::all_of(run.report.hazards, [](const Hazard& hazard) {
      return hazard.kind == HazardKind::same_value;
    });
  } catch (const std::invalid_argument&) {
    return false;
  }
}

std::string ragged_extents(const Failure& failure) {
  const Size whole = failure.exercise.counted, size = failure.size;
  if (!is_right(failure.code, whole)) return "";
  if (failure.code.form.is_vector) return "n";
  std::string found;
  const auto add = [&](const char* extent, const Size& of) {
    if (is_right(failure.code, of)) return;
    found += (found.empty() ? "" : " and ") + std::string(extent);
  };
  add("m", {size.m, whole.n, whole.k});
  add("n", {whole.m, size.n, whole.k});
  add("k", {whole.m, whole.n, size.k});
  return found.empty() ? "all extents" : found;
}

std::optional<Cause> cause_of(const Failure& failure) {
  if (failure.hazard == nullptr) return cause_without_hazard(failure);
  switch (failure.hazard->kind) {
    case HazardKind::shared_race:
    case HazardKind::global_race: return cause_of_race(failure);
    case HazardKind::divergent_barrier:
    case HazardKind::deadlock: return cause_of_deadlock(failure);
    case HazardKind::out_of_bounds: return cause_of_bounds(failure);
    case HazardKind::uninitialised_read: return cause_of_unwritten(failure);
    default: return std::nullopt;
  }
}

}  // namespace rung::learn
