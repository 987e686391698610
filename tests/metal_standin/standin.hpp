#pragma once
// What a test asks of the stand-in beyond metal-cpp's interface.

#include <cstdint>
#include <string>

namespace metal_standin {

/// How long a dispatch or a fill takes, by the clock of the stand-in's GPU. Sums of it are exact.
inline constexpr double command_seconds = 1.0 / 1024;

/// Objects that somebody still holds.
std::int64_t live_objects();

/// What goes wrong from now on.
struct Faults {
  bool no_device = false;
  bool old_device = false;    // of no family that is new enough
  std::string compiler_says;  // every library fails to compile
};
Faults& faults();

/// As Metal's validation does: says what is wrong, and ends the program.
[[noreturn]] void misuse(const std::string& what);

}  // namespace metal_standin
