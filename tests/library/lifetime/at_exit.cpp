// A program that calls the library at an unusual time of its life, named by its argument. It exits
// with 0 if every product was right.

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>
#include <vector>

#include "rung/rung.hpp"

namespace {

/// Products that use scratch memory and threads, and one split over k. Ends the program at once if
/// one is wrong: exit codes of a program that is ending already are lost.
void multiply_and_check() {
  for (const auto& [size, k] : {std::pair{160, 96}, std::pair{32, 4608}}) {
    const auto a =
        std::vector<rung::bfloat16>(static_cast<std::size_t>(size * k), rung::bfloat16(1.0f));
    std::vector<float> c(static_cast<std::size_t>(size * size), 7.0f);
    rung::gemm(rung::row_major(a.data(), size, k), rung::row_major(a.data(), k, size),
               rung::row_major(c.data(), size, size), {.threads = 4});
    for (const float element : c) {
      if (element == static_cast<float>(k)) continue;
      std::fprintf(stderr, "an element is %g; it must be %d\n", static_cast<double>(element), k);
      _exit(1);
    }
  }
}

struct AtDestruction {
  ~AtDestruction() { multiply_and_check(); }
};

// Constructed before the first call, and so destroyed after anything that the call constructs.
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

/// In the last round of destructors that POSIX runs for a thread.
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
  if (rounds != 3) _exit(1);
}

/// exit() in one thread while two others are in calls, some of them with the pool.
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

/// A signal of the process reaches the one thread that does not block it, never a worker.
void with_signals() {
  static std::atomic<int> in_other_thread = 0;
  static const pthread_t main_thread = pthread_self();
  struct sigaction action = {};
  action.sa_handler = [](int) {
    if (!pthread_equal(pthread_self(), main_thread)) ++in_other_thread;
  };
  for (const int signal : {SIGUSR1, SIGALRM, SIGCHLD, SIGPROF}) sigaction(signal, &action, nullptr);
  multiply_and_check();
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all,
                  nullptr);  // a worker that did not block them would take them now
  for (const int signal : {SIGUSR1, SIGALRM, SIGCHLD, SIGPROF}) kill(getpid(), signal);
  multiply_and_check();
  sigset_t pending;
  sigpending(&pending);
  for (const int signal : {SIGUSR1, SIGALRM, SIGCHLD, SIGPROF}) {
    if (sigismember(&pending, signal) != 1 || in_other_thread != 0) {
      std::fprintf(stderr, "a worker took signal %d\n", signal);
      _exit(1);
    }
  }
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
};

}  // namespace

int main(int argc, char** argv) {
  alarm(60);
  for (const Case& each : cases) {
    if (argc != 2 || each.name != argv[1]) continue;
    each.run();
    return 0;
  }
  std::fputs("usage: at_exit CASE\n", stderr);
  return 2;
}
