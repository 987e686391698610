// A program that calls the library at an unusual time of its life, selected by its argument. Exits
// with 0 if every product was right.

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "rung/rung.hpp"

namespace {

/// Ends the program immediately: exit codes of a program that is already exiting are lost.
[[noreturn]] void fail(const char* format, int value) {
  std::fprintf(stderr, format, value);
  _exit(1);
}

/// Computes products that use scratch memory and threads, and one that is split along k. Ends the
/// program immediately if one is wrong.
void multiply_and_check() {
  for (const auto& [size, k] : {std::pair{160, 96}, std::pair{32, 4608}}) {
    const auto a =
        std::vector<rung::bfloat16>(static_cast<std::size_t>(size * k), rung::bfloat16(1.0f));
    std::vector<float> c(static_cast<std::size_t>(size * size), 7.0f);
    rung::gemm(rung::row_major(a.data(), size, k), rung::row_major(a.data(), k, size),
               rung::row_major(c.data(), size, size), {.threads = 4});
    for (const float element : c) {
      if (element != static_cast<float>(k)) fail("an element is %d\n", static_cast<int>(element));
    }
  }
}

struct AtDestruction {
  ~AtDestruction() { multiply_and_check(); }
};

// Constructed before the first call, so destroyed after everything that the call constructs.
void in_static_destructor() {
  static AtDestruction late;
  multiply_and_check();
}

void in_handler_of_atexit() {
  std::atexit(multiply_and_check);
  multiply_and_check();
}

void in_thread_local_destructor() {
  thread_local AtDestruction late;
  multiply_and_check();
}

void in_thread_local_destructor_of_thread() { std::thread(in_thread_local_destructor).join(); }

/// Called in the last round of destructors that POSIX runs for a thread.
void in_key_destructor() {
  static pthread_key_t key;
  static int rounds = 0;
  pthread_key_create(&key, [](void* value) {
    if (++rounds < 3) pthread_setspecific(key, value);
    multiply_and_check();
  });
  std::thread([] {
    pthread_setspecific(key, &key);
    multiply_and_check();
  }).join();
  if (rounds != 3) fail("the destructor ran %d times; it must run 3 times\n", rounds);
}

/// Calls exit() in one thread while two others are in calls, with and without the pool.
void while_threads_multiply() {
  std::atomic<int> ready = 0;
  for (int i = 0; i < 2; ++i) {
    std::thread([&ready] {
      while (true) {
        multiply_and_check();
        ++ready;
      }
    }).detach();
  }
  while (ready < 2) std::this_thread::yield();
  in_static_destructor();
  std::exit(0);
}

/// The signals that a thread blocks, in the format of the kernel: bit 0 is signal 1.
unsigned long long blocked_signals(const std::filesystem::path& task) {
  std::ifstream status(task / "status");
  for (std::string word; status >> word;) {
    if (word == "SigBlk:" && status >> word) return std::stoull(word, nullptr, 16);
  }
  return 0;
}

using Tasks = std::set<std::filesystem::path>;

/// The threads of this process that are not in `known`.
Tasks tasks(const Tasks& known = {}) {
  Tasks found;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    if (!known.contains(task.path())) found.insert(task.path());
  }
  return found;
}

/// Workers receive no signals of the process, and faults of a worker reach the program's handlers.
void with_signals() {
  const Tasks before = tasks();
  multiply_and_check();
  const Tasks workers = tasks(before);
  if (workers.empty()) fail("there are %d workers; there must be some\n", 0);
  for (const auto& worker : workers) {
    const auto blocks = [&](int signal) {
      return (blocked_signals(worker) >> (signal - 1) & 1) != 0;
    };
    for (const int signal : {SIGINT, SIGTERM, SIGUSR1, SIGALRM, SIGCHLD, SIGPROF}) {
      if (!blocks(signal)) fail("a worker takes signal %d\n", signal);
    }
    // The C library blocks them while it creates a thread.
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE}) {
      while (blocks(signal)) std::this_thread::yield();
    }
  }
}

/// At most four threads per processor are created, however many the caller asks for.
void with_many_threads() {
  const Tasks before = tasks();
  constexpr int size = 1000;
  const std::vector<float> a(size * size, 1.0f);
  std::vector<float> c(size * size);
  rung::gemm(rung::row_major(a.data(), size, size), rung::row_major(a.data(), size, size),
             rung::row_major(c.data(), size, size), {.threads = 100'000});
  const auto workers = static_cast<int>(tasks(before).size());
  if (workers >= 4 * sysconf(_SC_NPROCESSORS_ONLN)) fail("there are %d workers\n", workers);
}

/// The default number of threads is the number of processors that the caller may currently use.
void with_another_mask() {
  cpu_set_t all;
  sched_getaffinity(0, sizeof all, &all);
  if (CPU_COUNT(&all) < 2) return;
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; CPU_COUNT(&one) == 0; ++cpu) {
    if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
  }
  const auto multiply = [] {
    constexpr int size = 300;
    const std::vector<float> a(size * size, 1.0f);
    std::vector<float> c(size * size);
    rung::gemm(rung::row_major(a.data(), size, size), rung::row_major(a.data(), size, size),
               rung::row_major(c.data(), size, size));
  };
  const Tasks before = tasks();
  sched_setaffinity(0, sizeof one, &one);
  multiply();
  if (!tasks(before).empty()) fail("there are %d workers on one processor\n", 1);
  sched_setaffinity(0, sizeof all, &all);
  multiply();
  if (tasks(before).empty()) fail("there are %d workers on all processors\n", 0);
}

struct Case {
  std::string_view name;
  void (*run)();
};

constexpr Case cases[] = {
    {"static", in_static_destructor},
    {"atexit", in_handler_of_atexit},
    {"thread_local", in_thread_local_destructor},
    {"thread_local_of_thread", in_thread_local_destructor_of_thread},
    {"key", in_key_destructor},
    {"exit_in_call", while_threads_multiply},
    {"signals", with_signals},
    {"many_threads", with_many_threads},
    {"another_mask", with_another_mask},
};

}  // namespace

int main(int argc, char** argv) {
  alarm(300);
  for (const Case& each : cases) {
    if (argc != 2 || each.name != argv[1]) continue;
    each.run();
    return 0;
  }
  std::fputs("usage: at_exit CASE\n", stderr);
  return 2;
}
