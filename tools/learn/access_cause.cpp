#include <fmt/format.h>

#include <string>

#include "tools/learn/causes.hpp"
#include "tools/learn/experiments.hpp"
#include "tools/learn/solution_work.hpp"

namespace rung::learn {
namespace {

using vgpu::Hazard;

bool has_barriers(const Exercise& exercise) {
  const std::string text = solution_text(exercise);
  return text.find("__syncthreads") != text.npos || text.find("threadgroup_barrier") != text.npos;
}

/// True if the kernel is right only where some extents are equal: it takes one for another.
bool confuses_extents(const Failure& failure) {
  if (failure.code.form.is_vector) return false;
  const auto [m, n, k] = failure.exercise.counted;
  return is_right(failure.code, {m, n, k}) && !is_right(failure.code, {m, 2 * n, 3 * k});
}

std::string edge_text(const Failure& failure, const std::string& extents) {
  const bool is_vector = failure.code.form.is_vector;
  return fmt::format(
      "for {} = {} this does not happen; it depends on {}, which is no multiple of "
      "the tile here",
      is_vector ? "n" : "m x n x k", to_string(failure.exercise.counted, is_vector), extents);
}

}  // namespace

std::optional<Cause> cause_of_bounds(const Failure& failure) {
  const Hazard& hazard = *failure.hazard;
  if (auto too_many = one_too_many(failure, "out_of_bounds/one_too_many")) return too_many;
  if (is_in_shared(hazard)) {
    return Cause{"out_of_bounds/shared", "the index is beyond an array in shared memory"};
  }
  const std::string extents = ragged_extents(failure);
  if (!has_barriers(failure.exercise) && is_outside(failure, {&hazard.first})) {
    return Cause{"out_of_bounds/outside",
                 fmt::format("{} lies beyond the edge: it has no element, and must not access any",
                             name_of(hazard.first))};
  }
  if (auto cause = wrong_store(failure, hazard.first)) return cause;
  if (confuses_extents(failure)) {
    return Cause{"out_of_bounds/extents",
                 fmt::format("for m x n x k = {} it is right, where extents are equal",
                             to_string(failure.exercise.counted, false))};
  }
  if (!extents.empty()) {
    const bool is_store = hazard.first.access == "write";
    return Cause{is_store ? "out_of_bounds/store" : "out_of_bounds/edge",
                 edge_text(failure, extents)};
  }
  if (is_outside(failure, {&hazard.first})) return std::nullopt;
  return Cause{failure.code.form.is_vector ? "out_of_bounds/element" : "out_of_bounds/index",
               fmt::format("{} has an element, so that its index is wrong, not its condition",
                           name_of(hazard.first))};
}

std::optional<Cause> cause_of_unwritten(const Failure& failure) {
  const Hazard& hazard = *failure.hazard;
  if (hazard.address.empty()) return std::nullopt;
  if (auto early = early_return(failure)) return early;
  if (auto weak = weak_barrier(failure)) return weak;
  if (auto missing = missing_barrier(failure, hazard.first, nullptr)) return missing;
  const std::string extents = ragged_extents(failure);
  if (!extents.empty()) return Cause{"uninitialised/edge", edge_text(failure, extents)};
  if (!is_in_shared(hazard)) return std::nullopt;
  return Cause{"uninitialised/gap", "no barrier more would mend it: no thread stores there"};
}

}  // namespace rung::learn
