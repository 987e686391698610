// Signal handlers and some programs end by _exit. Their work on the device is reported as at any other end.

#include "emu/runtime/early_exit.hpp"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string_view>

#include "emu/runtime/report.hpp"

#ifdef __linux__
#include <sys/syscall.h>
#endif

namespace rung::emu {
namespace {

#ifdef __linux__
volatile std::sig_atomic_t exit_code = 0;

void end_without_report(int) {
  constexpr std::string_view text =
      "rung emu: the report at the end of the program is incomplete\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
  exit_at_once(exit_code);
}

// The call may come from a signal's handler that has interrupted a launch or an allocation, whose
// locks are then never released: after some seconds the process says so, and ends.
void limit_time() {
  constexpr unsigned seconds = 5;
  std::signal(SIGALRM, end_without_report);
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
