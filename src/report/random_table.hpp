#pragma once
// The results of `rung bench --random` as text for a terminal.

#include <span>
#include <string>

#include "measure/random/random_bench.hpp"

namespace rung {

/// The statistics of each type and layout, then the ten worst shapes: by their ratio to the better
/// peer or, without peers, by regret.
std::string random_table(const RandomRequest& request, std::span<const RandomResult> results);

}  // namespace rung
