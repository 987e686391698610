#pragma once
// What rungs divide sizes with.

#include "core/integers.hpp"

namespace rung::cpu {

using rung::ceil_div;
using rung::round_up;

}  // namespace rung::cpu
