// The threads of CPU rungs: exceptions thrown by a loop body, and the end of a program.

#include "device/cpu/parallel.hpp"

#include <fenv.h>
#include <gtest/gtest.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <vector>

#include "../float_modes.hpp"

namespace rung::cpu {
namespace {

#ifdef RUNG_SANITIZED
constexpr int runs = 40;  // ThreadSanitizer waits a second for running threads
#else
constexpr int runs = 4000;
#endif

/// Ends a program directly after loops, while a worker may still be about to join the last one.
[[noreturn]] void loop_and_exit(int loops) {
  alarm(300);  // ends a child that hangs
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

/// The sum of [0, count), computed by a loop.
std::int64_t sum_below(std::int64_t count) {
  std::atomic<std::int64_t> sum = 0;
  parallel_for(count, 4, [&](std::int64_t i) { sum += i; });
  return sum;
}

/// Two indices that run at the same time, hence on two threads. arrive() returns false if no second
/// thread arrives.
class Meeting {
 public:
  bool arrive() {
    ++here_;
    for (int wait = 0; wait < 100'000 && here_ < 2; ++wait) std::this_thread::yield();
    return here_ == 2;
  }

 private:
  std::atomic<int> here_ = 0;
};

TEST(Parallel, RethrowsWhatABodyThrowsOnAnyThread) {
  const auto caller = std::this_thread::get_id();
  for (const bool on_caller : {false, true}) {
    int thrown = 0;
    for (int loop = 0; loop < 200; ++loop) {
      Meeting meeting;
      std::atomic<int> inside = 0;
      std::atomic<bool> throws = false;
      try {
        parallel_for(2, 2, [&](std::int64_t) {
          ++inside;
          const bool met = meeting.arrive();
          --inside;
          if (!met || (std::this_thread::get_id() == caller) != on_caller) return;
          throws = true;
          throw std::out_of_range("thrown");
        });
        EXPECT_FALSE(throws);
      } catch (const std::out_of_range& error) {
        ++thrown;
        EXPECT_STREQ(error.what(), "thrown");
      }
      EXPECT_EQ(inside, 0);
      EXPECT_EQ(sum_below(100), 4950);
    }
    EXPECT_GT(thrown, 0);
  }
}

TEST(Parallel, RethrowsOnceWhereAllThreadsThrow) {
  for (int loop = 0; loop < 200; ++loop) {
    std::atomic<int> inside = 0, begun = 0;
    EXPECT_THROW(parallel_for(1000, 4,
                              [&](std::int64_t i) {
                                ++begun;
                                ++inside;
                                std::vector<std::int64_t> on_stack(100, i);
                                --inside;
                                throw std::bad_alloc();
                              }),
                 std::bad_alloc);
    EXPECT_EQ(inside, 0);
    EXPECT_LE(begun, 4);  // one per thread: no index starts after that
    EXPECT_EQ(sum_below(1000), 499'500);
  }
}

TEST(Parallel, RethrowsThroughANestedLoop) {
  for (int loop = 0; loop < 100; ++loop) {
    std::atomic<int> outer = 0;
    EXPECT_THROW(parallel_for(8, 4,
                              [&](std::int64_t i) {
                                ++outer;
                                parallel_for(8, 4, [&](std::int64_t j) {
                                  if (i == 3 && j == 5) throw std::length_error("inner");
                                });
                              }),
                 std::length_error);
    EXPECT_GE(outer, 4);
    EXPECT_EQ(sum_below(1000), 499'500);
  }
}

TEST(Parallel, RethrowsToEachOfSeveralCallers) {
  std::vector<std::thread> callers;
  std::atomic<int> caught = 0;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&caught, caller] {
      for (int loop = 0; loop < 200; ++loop) {
        try {
          parallel_for(50, 3, [&](std::int64_t i) {
            if (i == 25) throw caller;
          });
        } catch (int whose) {
          if (whose == caller) ++caught;
        }
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(caught, 4 * 200);
}

/// The controls that each thread of a loop sees. The two threads wait for each other, so that both
/// take part.
struct SeenControls {
  FloatControl of_caller = 0, of_worker = 0;
  bool met = false;
};

SeenControls controls_in_loop() {
  SeenControls seen;
  const auto caller = std::this_thread::get_id();
  Meeting meeting;
  std::atomic<int> met = 0;
  parallel_for(2, 2, [&](std::int64_t) {
    met += meeting.arrive() ? 1 : 0;
    (std::this_thread::get_id() == caller ? seen.of_caller : seen.of_worker) = float_control();
  });
  seen.met = met == 2;
  return seen;
}

TEST(Parallel, ThreadsHaveTheCallersFloatEnvironment) {
  for (const FloatMode& mode : float_modes) {
    const ScopedFloatControl callers(mode.control);
    const SeenControls seen = controls_in_loop();
    if (seen.met) {
      EXPECT_EQ(seen.of_caller, mode.control) << mode.name;
      EXPECT_EQ(seen.of_worker, mode.control) << mode.name;
    }
    EXPECT_EQ(float_control(), mode.control) << mode.name;
  }
}

#if defined(__GLIBC__) && defined(__x86_64__)
void overflow() {
  volatile float large = 0x1p127f;
  large = large * large;
}

/// Raises an overflow in a worker only. Returns false if no worker took part.
bool overflow_in_worker() {
  const auto caller = std::this_thread::get_id();
  Meeting meeting;
  std::atomic<bool> did = false;
  parallel_for(2, 2, [&](std::int64_t) {
    if (!meeting.arrive() || std::this_thread::get_id() == caller) return;
    overflow();
    did = true;
  });
  return did;
}

TEST(Parallel, FlagsOfWorkersBecomeTheCallers) {
  const unsigned before = FE_INVALID;
  set_float_flags(before);
  if (!overflow_in_worker()) GTEST_SKIP() << "no second thread came";
  EXPECT_EQ(float_flags(), before | FE_OVERFLOW | FE_INEXACT);
  set_float_flags(0);
  parallel_for(2, 2, [&](std::int64_t) {});
  EXPECT_EQ(float_flags(), 0u);  // flags of an earlier loop do not reappear
}

sigjmp_buf before_loop;
std::atomic<pid_t> trapped_thread = 0;

TEST(Parallel, TrapsAreTakenByTheCallerAfterTheLoop) {
  struct sigaction jump = {}, usual = {};
  jump.sa_handler = [](int) {
    trapped_thread = gettid();
    siglongjmp(before_loop, 1);
  };
  sigaction(SIGFPE, &jump, &usual);
  volatile bool did_overflow = true;
  if (sigsetjmp(before_loop, 1) == 0) {
    feenableexcept(FE_OVERFLOW);
    did_overflow = overflow_in_worker();
  }
  fedisableexcept(FE_ALL_EXCEPT);
  sigaction(SIGFPE, &usual, nullptr);
  if (!did_overflow) GTEST_SKIP() << "no second thread came";
  EXPECT_EQ(trapped_thread, gettid());
  EXPECT_EQ(sum_below(1000), 499'500);  // the pool is available, and workers do not trap
  const SeenControls later = controls_in_loop();
  if (later.met) {
    EXPECT_EQ(later.of_worker, default_float_control);
  }
}
#endif

/// The number of times that the calling thread yielded its processor to wait.
long sleeps() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw;
}

void work_half_a_millisecond() {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::microseconds(500);
  while (Clock::now() < end) continue;
}

// A sleeping caller would be woken on its worker's processor. Load may delay a worker longer than
// any caller waits awake, so one short wait is sufficient, however many loops it takes.
TEST(Parallel, CallerStaysAwakeForAWorkerThatIsALittleLate) {
  const auto caller = std::this_thread::get_id();
  int shared = 0, awake = 0;
  for (int loop = 0; loop < 10'000 && awake == 0; ++loop) {
    Meeting meeting;
    std::atomic<bool> met = false;
    const long before = sleeps();
    parallel_for(2, 2, [&](std::int64_t) {
      if (meeting.arrive()) met = true;
      if (std::this_thread::get_id() != caller) work_half_a_millisecond();
    });
    if (!met) continue;
    ++shared;
    awake += sleeps() == before ? 1 : 0;
  }
  if (shared == 0) GTEST_SKIP() << "no second thread came";
  EXPECT_GT(awake, 0) << "of " << shared;
}

TEST(Parallel, HasNoMoreThreadsThanItSays) {
  EXPECT_GE(max_threads(), 4);
  EXPECT_LE(max_threads(), 1024);
  std::atomic<int> at_once = 0, most = 0;
  parallel_for(10'000, 100'000, [&](std::int64_t) {
    const int now = ++at_once;
    for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) continue;
    --at_once;
  });
  EXPECT_LE(most, max_threads());
}

}  // namespace
}  // namespace rung::cpu
