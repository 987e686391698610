#pragma once
// A hint for programs that repeat their kernels, to measure them for example, and take long.

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace rung::emu {

class Repetitions {
 public:
  /// @param in_ci  True under --ci, which the hint then does not offer.
  explicit Repetitions(bool in_ci) : in_ci_(in_ci) {}

  /// Adds a launch, and the seconds of CPU time it took. The first time that launches have taken long, and most
  /// of that in repetitions: a line about --launches.
  std::optional<std::string> add(const std::string& kernel, double seconds);

 private:
  std::map<std::string, std::uint64_t> launches_;  // by kernel
  double seconds_ = 0, repeated_seconds_ = 0;
  bool in_ci_, told_ = false;
};

}  // namespace rung::emu
