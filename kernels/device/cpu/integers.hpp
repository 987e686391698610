#pragma once
// Integer helpers for CPU rungs.

#include "core/integers.hpp"

namespace rung::cpu {

using rung::ceil_div;
using rung::round_up;

}  // namespace rung::cpu
