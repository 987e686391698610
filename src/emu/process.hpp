#pragma once
// Running another program, and ending with it.

#include <string>
#include <utility>
#include <vector>

namespace rung::emu {

struct ExitStatus {
  int code = 0;    // its exit status
  int signal = 0;  // the signal that ended it; 0 if it exited
};

/// While one lives, the signals that ask a process to end (SIGINT, SIGQUIT, SIGTERM, SIGHUP) do not
/// end this one: they are noted, and sent on to the program that run() waits for. Those of the
/// terminal's keys have reached that program already. Signals that are ignored stay so. One at a
/// time.
class HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  /// The signal that came last; 0 if none came.
  static int received();
};

/// A signal asked this process to end while it had something to clean up.
struct Interrupted {
  int signal;
};

/// Ends this process by the signal, as if nobody had held it: a shell sees why.
[[noreturn]] void end_by(int signal);

/// Calls `body` with signals held. Where it throws Interrupted, this process ends by that signal,
/// after all that `body` had to clean up.
template <class Body>
auto with_signals_held(const Body& body) {
  int signal = 0;
  try {
    const HeldSignals held;
    return body();
  } catch (const Interrupted& interrupted) {
    signal = interrupted.signal;
  }
  end_by(signal);
}

/// Runs a program, found on the PATH, with this process's standard streams and folder, its
/// environment with `variables` set besides, and waits until it ends. It ends at the latest with
/// this process, however that ends. Throws std::runtime_error if it cannot be started.
ExitStatus run(const std::vector<std::string>& command,
               const std::vector<std::pair<std::string, std::string>>& variables = {});

/// The path of an executable file of that name on the PATH; empty if there is none.
std::string find_program(const std::string& name);

}  // namespace rung::emu
