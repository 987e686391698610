#pragma once
// What a test asks of the stand-in beyond metal-cpp's interface.

#include <cstdint>
#include <string>

namespace metal_standin {

/// Objects that somebody still holds.
std::int64_t live_objects();

/// What goes wrong from now on.
struct Faults {
  bool no_device = false;
  std::string compiler_says;  // every library fails to compile
};
Faults& faults();

/// As Metal's validation does: says what is wrong, and ends the program.
[[noreturn]] void misuse(const std::string& what);

}  // namespace metal_standin
