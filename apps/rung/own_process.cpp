#include "own_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <random>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "core/temporary_folder.hpp"
#include "emu/compile/process.hpp"
#include "outcome.hpp"
#include "progress.hpp"
#include "tools/analysis/toolkit.hpp"
#include "tools/kernel_file/host_access.hpp"

namespace rung {
namespace {

/// Through this pipe, the child process reports that the body is done, with its exit code. A random
/// word precedes the code: user code that writes to every descriptor cannot forge a report.
class OutcomePipe {
 public:
  OutcomePipe() {
    if (pipe(ends_.data()) != 0) throw std::runtime_error(std::strerror(errno));
    for (const int end : ends_) {
      fcntl(end, F_SETFD, FD_CLOEXEC);
      fcntl(end, F_SETFL, O_NONBLOCK);
    }
    std::random_device random;
    for (std::uint32_t& part : word_) part = random();
  }
  ~OutcomePipe() {
    for (const int end : ends_) close(end);
  }
  OutcomePipe(const OutcomePipe&) = delete;
  OutcomePipe& operator=(const OutcomePipe&) = delete;

  void send(ExitCode code) const {
    const Message message{word_, static_cast<std::uint32_t>(code)};
    if (write(ends_[1], &message, sizeof message) < 0) _exit(exit_wrong);
  }

  /// Call this after the process has ended. Returns nullopt unless exactly one report was written.
  std::optional<ExitCode> receive() const {
    std::array<Message, 2> messages{};
    const ssize_t bytes = read(ends_[0], messages.data(), sizeof messages);
    if (bytes != sizeof(Message) || messages[0].word != word_) return {};
    return static_cast<ExitCode>(messages[0].code);
  }

 private:
  using Word = std::array<std::uint32_t, 4>;
  struct Message {
    Word word;
    std::uint32_t code;
  };

  std::array<int, 2> ends_{};
  Word word_{};
};

/// The pipe of the process that calls the user's functions; null in others.
const OutcomePipe* pipe_of_process = nullptr;

void end_by_host_access(const std::string& message) {
  pipe_of_process->send(outcome_of([&]() -> ExitCode {
    Progress().show("");
    throw std::runtime_error(message);
  }));
  _exit(exit_wrong);
}

/// Ends the process when the calling thread ends (pthread_exit), for which the threads of the
/// virtual GPU would not wait.
void end_with_this_thread() {
  std::thread([caller = pthread_self()] {
    pthread_join(caller, nullptr);
    _exit(exit_wrong);
  }).detach();
}

void run_and_send(const Action& body, const OutcomePipe& outcome, const std::string& folder) {
  const pid_t own = getpid();
  end_with_this_thread();
  setenv("TMPDIR", folder.c_str(), 1);
  pipe_of_process = &outcome;
  tell_host_accesses(end_by_host_access);
  const ExitCode code = outcome_of(body);
  if (getpid() == own) outcome.send(code);
}

std::string end_of(const emu::ExitStatus& status) {
  if (status.signal == 0) return fmt::format("ended with exit code {}", status.code);
  return fmt::format("was ended by signal {} ({})", status.signal, strsignal(status.signal));
}

}  // namespace

ExitCode in_own_process(const std::string& file, const Action& body) {
  std::fflush(nullptr);  // otherwise both processes would write the buffers
  return emu::with_signals_held([&] {
    const TemporaryFolder folder;
    const OutcomePipe outcome;
    const emu::ExitStatus status =
        emu::run_in_copy([&] { run_and_send(body, outcome, folder.path().string()); });
    if (const auto code = outcome.receive()) return *code;
    if (const int signal = emu::HeldSignals::received(); signal != 0) {
      throw emu::Interrupted{signal};
    }
    Progress().show("");
    throw std::runtime_error(
        fmt::format("{}: the process {} before the command was done; code of the file must not "
                    "call exit() or crash",
                    file, end_of(status)));
  });
}

}  // namespace rung
