#pragma once
// The environment to publish with a measurement.

#include <string>

#include "device/cpu/machine.hpp"

namespace rung {

struct Environment {
  cpu::Machine machine;
  std::string os;
  std::string compiler;
  std::string version;
  std::string commit;  // when the build was configured; "unknown" outside a git checkout
  std::string date;    // ISO 8601, UTC
};

Environment environment();

}  // namespace rung
