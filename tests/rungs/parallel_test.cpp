// The threads of CPU rungs, at the end of a program.

#include "device/cpu/parallel.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>

namespace rung::cpu {
namespace {

#ifdef RUNG_SANITIZED
constexpr int runs = 400;  // the end of a program takes far longer there
#else
constexpr int runs = 4000;
#endif

/// Ends a program right after loops whose worker may still be on its way to the last one.
[[noreturn]] void loop_and_exit(int loops) {
  alarm(5);
  std::atomic<std::int64_t> sum = 0;
  for (int loop = 0; loop < loops; ++loop) {
    parallel_for(2, 2, [&](std::int64_t i) { sum += i; });
  }
  std::exit(sum == loops ? 0 : 1);
}

TEST(Parallel, EndsWithTheProgram) {
  for (int run = 0; run < runs; ++run) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) loop_and_exit(1 + run % 3);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status)) << "killed by signal " << WTERMSIG(status) << " in run " << run;
    ASSERT_EQ(WEXITSTATUS(status), 0);
  }
}

}  // namespace
}  // namespace rung::cpu
