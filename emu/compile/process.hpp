#pragma once
// Running another program, and ending with it.

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace rung::emu {

struct ExitStatus {
  int code = 0;    // its exit status
  int signal = 0;  // the signal that ended it; 0 if it exited
};

/// While an object lives, the signals that ask a process to end (SIGINT, SIGQUIT, SIGTERM, SIGHUP) do not
/// end this process. They are noted and forwarded to the program that run() waits for, unless they come
/// from the terminal's keys and have reached it already. Ignored signals stay ignored. Only one object
/// may live at a time.
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

/// Ends this process by the signal, as if it had not been held, so that a shell sees the reason.
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
/// environment and `variables`, and waits until it ends. It is killed when this process ends.
/// `output` and `errors`: files for its standard output and error streams, or empty. Throws
/// std::runtime_error if it cannot be started.
ExitStatus run(const std::vector<std::string>& command,
               const std::vector<std::pair<std::string, std::string>>& variables = {},
               const std::string& output = {}, const std::string& errors = {});

/// Runs `body` in a copy of this process, which must have a single thread, and waits until that
/// ends: with exit code 0 after `body`, without destructors. The rest is as for run().
ExitStatus run_in_copy(const std::function<void()>& body);

/// The path of an executable file of that name on the PATH; empty if the PATH has no such file.
std::string find_program(const std::string& name);

}  // namespace rung::emu
