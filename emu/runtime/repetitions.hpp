#pragma once
// A hint for programs that repeat their kernels, to measure them for example, and take long.

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace rung::emu {

class Repetitions {
 public:
  /// Adds a launch, and the seconds it took. The first time that launches have taken long, and most
  /// of that in repetitions: a line about --launches.
  std::optional<std::string> add(const std::string& kernel, double seconds);

 private:
  std::map<std::string, std::uint64_t> launches_;  // by kernel
  double seconds_ = 0, repeated_seconds_ = 0;
  bool told_ = false;
};

}  // namespace rung::emu
