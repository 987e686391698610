#include "emu/compile/process.hpp"

#include <fcntl.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>

namespace rung::emu {
namespace {

constexpr std::array ending_signals = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};

// Written by the signal handler, which may use no other variables.
volatile std::sig_atomic_t last_signal = 0;
std::atomic<pid_t> running_child = 0;
static_assert(std::atomic<pid_t>::is_always_lock_free);

extern "C" void note_signal(int signal, siginfo_t* info, void*) {
  last_signal = signal;
  const pid_t child = running_child;
  // The terminal sends its signals to the whole foreground group.
  const bool from_a_process = info->si_code <= 0;
  if (child > 0 && from_a_process) kill(child, signal);
}

sigset_t ending_set() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : ending_signals) sigaddset(&set, signal);
  return set;
}

// Blocks signals while it lives, because they could not be passed on between fork and exec.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    const sigset_t set = ending_set();
    pthread_sigmask(SIG_BLOCK, &set, &before_);
  }
  ~SignalsBlocked() { restore(); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

  void restore() const { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

/// Lets this process, which was forked from `parent`, end when that does.
void end_with(pid_t parent) {
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  if (getppid() != parent) _exit(126);
}

[[noreturn]] void become(const std::vector<std::string>& command, int error_pipe) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  const int error = errno;
  if (write(error_pipe, &error, sizeof(error)) < 0) _exit(126);
  _exit(127);
}

/// The id of the new process, which runs `body`; negative if fork failed.
pid_t start(const std::function<void()>& body) {
  const pid_t parent = getpid();
  const SignalsBlocked blocked;
  const pid_t child = fork();
  if (child == 0) {
    for (const int signal : ending_signals) {
      struct sigaction action{};
      sigaction(signal, nullptr, &action);
      if (action.sa_handler != SIG_IGN) std::signal(signal, SIG_DFL);
    }
    blocked.restore();
    end_with(parent);
    body();
    _exit(0);
  }
  running_child = child;
  return child;
}

ExitStatus wait_for(pid_t child) {
  int status = 0;
  // The process is reaped only when no signal can be sent to it any more: its id could be reused.
  siginfo_t ended{};
  while (waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
  }
  running_child = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) return {0, WTERMSIG(status)};
  return {WEXITSTATUS(status), 0};
}

}  // namespace

HeldSignals::HeldSignals() {
  last_signal = 0;
  for (const int signal : ending_signals) {
    struct sigaction before{};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler == SIG_IGN) continue;  // as under nohup
    struct sigaction action{};
    action.sa_sigaction = note_signal;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    action.sa_mask = ending_set();
    sigaction(signal, &action, nullptr);
  }
}

HeldSignals::~HeldSignals() {
  for (const int signal : ending_signals) {
    struct sigaction now{};
    sigaction(signal, nullptr, &now);
    if (now.sa_sigaction == note_signal) std::signal(signal, SIG_DFL);
  }
}

int HeldSignals::received() { return last_signal; }

void end_by(int signal) {
  std::signal(signal, SIG_DFL);
  std::raise(signal);
  _exit(128 + signal);
}

ExitStatus run(const std::vector<std::string>& command,
               const std::vector<std::pair<std::string, std::string>>& variables,
               const std::string& output, const std::string& errors) {
  int error_pipe[2];
  if (pipe(error_pipe) != 0) throw std::runtime_error(std::strerror(errno));
  for (const int end : error_pipe) fcntl(end, F_SETFD, FD_CLOEXEC);
  const pid_t child = start([&] {
    for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
    for (const auto& [name, stream] :
         {std::pair(output, STDOUT_FILENO), std::pair(errors, STDERR_FILENO)}) {
      if (name.empty()) continue;
      const int file = open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
      if (file < 0 || dup2(file, stream) < 0) _exit(127);
    }
    become(command, error_pipe[1]);
  });
  close(error_pipe[1]);
  int error = child < 0 ? errno : 0;
  if (child > 0 && read(error_pipe[0], &error, sizeof(error)) < 0) error = 0;
  close(error_pipe[0]);
  const ExitStatus status = child > 0 ? wait_for(child) : ExitStatus{};
  if (error != 0) {
    throw std::runtime_error("cannot run '" + command[0] + "': " + std::strerror(error));
  }
  return status;
}

ExitStatus run_in_copy(const std::function<void()>& body) {
  const pid_t child = start(body);
  if (child < 0) throw std::runtime_error(std::string("fork: ") + std::strerror(errno));
  return wait_for(child);
}

std::string find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::string rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const std::size_t stop = std::min(rest.find(':'), rest.size());
    const auto candidate = std::filesystem::path(rest.substr(0, stop)) / name;
    if (access(candidate.c_str(), X_OK) == 0) return candidate.string();
    rest.erase(0, stop + 1);
  }
  return "";
}

}  // namespace rung::emu
