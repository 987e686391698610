#pragma once
// The CPU backend: its rungs are functions in this program.

#include <memory>

#include "backends/backend.hpp"

namespace rung {

std::unique_ptr<Backend> make_cpu_backend();

}  // namespace rung
