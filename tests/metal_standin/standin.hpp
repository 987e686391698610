#pragma once
// The interface of the stand-in for tests, in addition to that of metal-cpp.

#include <cstdint>
#include <string>

namespace metal_standin {

/// The time of a dispatch or a fill by the stand-in GPU's clock, in seconds. Sums of it are exact.
inline constexpr double command_seconds = 1.0 / 1024;

/// The number of objects that are still referenced.
std::int64_t live_objects();

/// Faults to inject from now on.
struct Faults {
  bool no_device = false;
  bool old_device = false;    // does not support the required family
  std::string compiler_says;  // every library fails to compile
};
Faults& faults();

/// Prints what is wrong and ends the program, like Metal's validation.
[[noreturn]] void misuse(const std::string& what);

}  // namespace metal_standin
