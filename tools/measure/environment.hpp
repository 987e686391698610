#pragma once
// The environment to publish with a measurement.

#include <string>

#include "device/cpu/machine.hpp"

namespace rung {

struct Environment {
  std::string cpu;  // name reported by the operating system
  int threads;      // maximum number of concurrent threads of the process
  cpu::Machine machine;
  std::string os;
  std::string compiler;
  std::string version;
  std::string commit;  // at configuration time; "unknown" outside a git checkout
  std::string date;    // ISO 8601, UTC
};

Environment environment();

}  // namespace rung
