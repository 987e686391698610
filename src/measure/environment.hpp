#pragma once
// The environment to publish with a measurement.

#include <string>

#include "device/cpu/machine.hpp"

namespace rung {

struct Environment {
  std::string cpu;  // what the operating system calls it
  int threads;      // that the process may run on at once
  cpu::Machine machine;
  std::string os;
  std::string compiler;
  std::string version;
  std::string commit;  // when the build was configured; "unknown" outside a git checkout
  std::string date;    // ISO 8601, UTC
};

Environment environment();

}  // namespace rung
