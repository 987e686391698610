#pragma once
// Causes by kind of hazard. cause_of() chooses among them.

#include <optional>

#include "tools/learn/cause.hpp"

namespace rung::learn {

std::optional<Cause> cause_of_race(const Failure& failure);
/// Barriers that some threads do not reach.
std::optional<Cause> cause_of_deadlock(const Failure& failure);
/// Accesses out of bounds.
std::optional<Cause> cause_of_bounds(const Failure& failure);
/// Reads of what was never written.
std::optional<Cause> cause_of_unwritten(const Failure& failure);
/// Results that were never stored.
std::optional<Cause> cause_of_missing(const Failure& failure);

}  // namespace rung::learn
