#pragma once
// The CPU backend: rungs are functions of this program.

#include "backends/backend.hpp"

namespace rung {

const Backend& cpu_backend();

}  // namespace rung
