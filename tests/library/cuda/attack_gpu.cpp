// Attacks the library on a real GPU, as its tests do on the virtual one. Every attack runs in its
// own process and prints one line. `attack_gpu` runs all attacks, `attack_gpu NAME…` the named
// ones.

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include "attack.hpp"

extern char** environ;

namespace rung::cuda {
namespace {

struct Attack {
  const char* name;
  void (*run)();
};

constexpr Attack attacks[] = {
    {"memory_filled", memory_filled},
    {"sticky_error", sticky_error},
    {"contexts_come_and_go", contexts_come_and_go},
    {"context_destroyed", context_destroyed},
    {"device_reset", device_reset},
    {"stream_handles_reused", stream_handles_reused},
    {"threads_on_one_stream", threads_on_one_stream},
    {"threads_with_two_contexts", threads_with_two_contexts},
    {"captures_of_others", captures_of_others},
    {"first_call_is_captured", first_call_is_captured},
    {"graph_after_release", graph_after_release},
    {"graphs_in_parallel", graphs_in_parallel},
    {"a_million_calls", a_million_calls},
    {"every_alignment", every_alignment},
    {"fork_after_use", fork_after_use},
    {"exit_in_flight", exit_in_flight},
    {"calls_at_exit", calls_at_exit},
};

constexpr auto limit = std::chrono::seconds(90);

/// Runs an attack in its own process. Its output follows its name in the line.
int run_here(const char* name) {
  for (const Attack& attack : attacks) {
    if (std::strcmp(attack.name, name) != 0) continue;
    try {
      attack.run();
      return 0;
    } catch (const std::exception& error) {
      std::printf("%s ", error.what());
      return 1;
    }
  }
  std::printf("no such attack ");
  return 1;
}

/// "passed", "failed", or the way in which the process died.
std::string verdict_of(pid_t process) {
  const auto end = std::chrono::steady_clock::now() + limit;
  int status = 0;
  while (waitpid(process, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > end) {
      kill(process, SIGKILL);
      waitpid(process, &status, 0);
      return "failed: hung";
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  if (WIFSIGNALED(status)) return std::string("failed: ") + strsignal(WTERMSIG(status));
  return WEXITSTATUS(status) == 0 ? "passed" : "failed";
}

bool attack(const char* program, const char* name) {
  std::printf("%-28s", name);
  std::fflush(stdout);
  const char* const arguments[] = {program, "--here", name, nullptr};
  pid_t process = 0;
  const int error =
      posix_spawn(&process, program, nullptr, nullptr, const_cast<char**>(arguments), environ);
  const std::string verdict = error == 0 ? verdict_of(process) : "failed: not started";
  std::printf("%s\n", verdict.c_str());
  return verdict == "passed";
}

}  // namespace
}  // namespace rung::cuda

int main(int count, char** arguments) {
  using namespace rung::cuda;
  if (count == 3 && std::strcmp(arguments[1], "--here") == 0) {
    const int status = run_here(arguments[2]);
    std::fflush(stdout);
    return status;
  }
  bool all = true;
  if (count == 1) {
    for (const Attack& each : attacks) all = attack("/proc/self/exe", each.name) && all;
  }
  for (int i = 1; i < count; ++i) all = attack("/proc/self/exe", arguments[i]) && all;
  return all ? 0 : 1;
}
