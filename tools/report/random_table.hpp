#pragma once
// The results of `rung bench --random` as text for a terminal.

#include <span>
#include <string>

#include "tools/measure/random/random_bench.hpp"

namespace rung {

/// Statistics of each data type and layout, then the ten worst shapes: by ratio to the fastest peer
/// or, without peers, by regret.
std::string random_table(const RandomRequest& request, std::span<const RandomResult> results);

}  // namespace rung
