#pragma once
// Ctrl-C and `timeout` end a long run early, without losing what it has measured.

#include <array>
#include <csignal>

namespace rung {

/// During its lifetime, the first SIGINT or SIGTERM is only noted. A second one ends the process,
/// as usual. A signal that the process ignores, as a background job of a shell may, stays ignored.
/// Only one at a time.
class Interruption {
 public:
  Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  ~Interruption();

  /// The signal that was noted; 0 for none.
  static int noted();
  /// Ends the process by the signal that was noted, so that its parent sees it. Returns if no signal was
  /// noted.
  static void end_by_noted();

 private:
  static constexpr std::array signals = {SIGINT, SIGTERM};
  std::array<struct sigaction, signals.size()> before_ = {};
};

}  // namespace rung
