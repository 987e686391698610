// Signal handlers and some programs end by _exit, and jobs that take too long by a signal. Their work on the device is
// reported as at any other end.

#include "emu/runtime/early_exit.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string_view>
#include <thread>

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

int signal_pipe[2] = {-1, -1};

void pass_on(int signal) {
  const int error = errno;
  const char byte = static_cast<char>(signal);
  const bool is_sent = is_reporting_process() && write(signal_pipe[1], &byte, 1) == 1;
  if (!is_sent) raise(signal);  // after this handler, which is installed for one signal
  errno = error;
}

// The handler itself may have interrupted a launch, for whose locks it would wait forever.
void report_signal() {
  char signal = 0;
  while (read(signal_pipe[0], &signal, 1) < 0 && errno == EINTR) {
  }
  exit_code = 128 + signal;
  limit_time();
  report_interruption(signal);
  kill(getpid(), signal);
}

// Runs last, because it is registered first.
[[maybe_unused]] const int registered = std::at_quick_exit(report_end);
#endif

}  // namespace

#ifdef __linux__
void report_at_signals() {
  if (pipe2(signal_pipe, O_CLOEXEC) != 0) return;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // the program's handlers run in its own threads
  std::thread(report_signal).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  for (const int signal : {SIGTERM, SIGINT}) {
    struct sigaction action{};
    sigaction(signal, nullptr, &action);
    if ((action.sa_flags & SA_SIGINFO) != 0 || action.sa_handler != SIG_DFL) continue;
    action = {};
    action.sa_handler = pass_on;
    action.sa_flags = SA_RESETHAND | SA_RESTART;
    sigaction(signal, &action, nullptr);
  }
}

void exit_at_once(int code) {
  for (;;) syscall(SYS_exit_group, code);
}
#else
void report_at_signals() {}
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
