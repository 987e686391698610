// Handlers of signals, and some programs, end by _exit: what they did on the device is told as at any
// other end.

#include "emu/runtime/early_exit.hpp"

#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "emu/runtime/report.hpp"

#ifdef __linux__
#include <sys/syscall.h>
#endif

namespace rung::emu {
namespace {

#ifdef __linux__
volatile std::sig_atomic_t exit_code = 0;

// The call may come from a signal's handler that has interrupted a launch or an allocation, whose
// locks are then never released: after some seconds the process ends without a report.
void limit_time() {
  constexpr unsigned seconds = 5;
  std::signal(SIGALRM, [](int) { exit_at_once(exit_code); });
  sigset_t alarm_signal;
  sigemptyset(&alarm_signal);
  sigaddset(&alarm_signal, SIGALRM);
  pthread_sigmask(SIG_UNBLOCK, &alarm_signal, nullptr);
  alarm(seconds);
}

[[noreturn]] void exit_early(int code) {
  if (is_reporting_process()) {
    exit_code = code;
    limit_time();
    report_end();
  }
  exit_at_once(code);
}

// Runs last, because it is registered first.
[[maybe_unused]] const int registered = std::at_quick_exit(report_end);
#endif

}  // namespace

#ifdef __linux__
void exit_at_once(int code) {
  for (;;) syscall(SYS_exit_group, code);
}
#else
void exit_at_once(int code) { _exit(code); }
#endif

}  // namespace rung::emu

#ifdef __linux__
// The program's calls come here: the linker has this library before libc.
extern "C" {
__attribute__((visibility("default"))) void _exit(int code) { rung::emu::exit_early(code); }
__attribute__((visibility("default"))) void _Exit(int code) noexcept {
  rung::emu::exit_early(code);
}
}
#endif
