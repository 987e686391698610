#include "emu/process.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>

namespace rung::emu {
namespace {

// Ignores the terminal's keyboard signals during its lifetime.
class InterruptsIgnored {
 public:
  InterruptsIgnored() {
    interrupt_ = std::signal(SIGINT, SIG_IGN);
    quit_ = std::signal(SIGQUIT, SIG_IGN);
  }
  ~InterruptsIgnored() { restore(); }
  InterruptsIgnored(const InterruptsIgnored&) = delete;
  InterruptsIgnored& operator=(const InterruptsIgnored&) = delete;

  void restore() const {
    std::signal(SIGINT, interrupt_);
    std::signal(SIGQUIT, quit_);
  }

 private:
  using Handler = void (*)(int);
  Handler interrupt_, quit_;
};

[[noreturn]] void become(const std::vector<std::string>& command, int error_pipe) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  const int error = errno;
  if (write(error_pipe, &error, sizeof(error)) < 0) _exit(126);
  _exit(127);
}

ExitStatus wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) return {0, WTERMSIG(status)};
  return {WEXITSTATUS(status), 0};
}

}  // namespace

ExitStatus run(const std::vector<std::string>& command,
               const std::vector<std::pair<std::string, std::string>>& variables) {
  int error_pipe[2];
  if (pipe(error_pipe) != 0) throw std::runtime_error(std::strerror(errno));
  for (const int end : error_pipe) fcntl(end, F_SETFD, FD_CLOEXEC);
  const InterruptsIgnored ignored;
  const pid_t child = fork();
  if (child == 0) {
    ignored.restore();
    for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
    become(command, error_pipe[1]);
  }
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
