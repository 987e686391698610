#include "device/cpu/parallel.hpp"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <csignal>
#include <exception>
#include <type_traits>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "device/cpu/float_environment.hpp"

namespace rung::cpu {
namespace {

void relax() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// About 100 us: bridges the serial parts of a call, uneven blocks and back-to-back calls, without
// occupying a core much longer than necessary.
constexpr int worker_spins = 2000;

// About 2 ms. A sleeping caller is woken on the processor of the worker that finished last, and
// both would share that processor in subsequent calls.
constexpr int caller_spins = 40000;

// Yielding runs a worker that is queued on the caller's processor.
constexpr int spins_before_yield = 64;

constexpr int max_helpers = 1023;

/// Blocks process-directed signals in this thread, and therefore in threads that it creates. Faults
/// of the thread itself still reach the program's handlers.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT}) {
      sigdelset(&all, fault);
    }
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

// The processors on which a worker may run: those of its caller, except the caller's current one. A
// scheduler may queue a woken thread on the processor of its waker, which stays busy, for a time
// slice of some milliseconds. That is longer than most calls.
class Processors {
 public:
  /// The processors for workers of the calling thread; empty if unknown.
  static Processors beside_caller() {
    Processors found;
#if defined(__linux__)
    const int here = sched_getcpu();
    if (here < 0 || sched_getaffinity(0, sizeof found.set_, &found.set_) != 0) return {};
    if (CPU_COUNT(&found.set_) > 1) CPU_CLR(here, &found.set_);
#endif
    return found;
  }

  void move(pthread_t thread, const Processors& to) {
#if defined(__linux__)
    if (CPU_COUNT(&to.set_) == 0 || CPU_EQUAL(&to.set_, &set_)) return;
    if (pthread_setaffinity_np(thread, sizeof to.set_, &to.set_) == 0) set_ = to.set_;
#endif
  }

 private:
#if defined(__linux__)
  cpu_set_t set_{};
#endif
};

struct Worker {
  pthread_t thread{};
  std::atomic<bool> asleep = false;
  Processors processors;
};

/// A running loop. It is on the stack of its caller, which waits until every worker has left.
struct Loop {
  detail::Task task;
  const void* body;
  std::int64_t count;
  FloatControl control;  // for all threads of the loop: the caller's, without traps
  alignas(64) std::atomic<std::int64_t> next = 0;
  alignas(64) std::atomic<bool> failed = false;
  std::atomic<unsigned> flags = 0;     // floating-point exception flags of all threads
  std::exception_ptr error = nullptr;  // the first one; written by the thread that set `failed`
};

/// A single object without a destructor, because a program may call the library from its last
/// destructor, or exit while another thread is in a call. Does not allocate memory.
class Pool {
 public:
  /// Runs the loop. Returns false if the pool is in use, by another caller or by an enclosing loop.
  bool run(Loop& loop, int threads) {
    if (taken_.exchange(true, std::memory_order_acquire)) return false;
    const int helpers = hire(static_cast<int>(std::min<std::int64_t>(threads, loop.count) - 1));
    loop_ = &loop;
    gate_.store(static_cast<std::uint32_t>(helpers) * slot);
    wake(helpers);
    work();
    close();
    taken_.store(false, std::memory_order_release);
    return true;
  }

  /// Resets the pool after fork(): threads do not survive it, so the child creates its own.
  void restart_in_child() {
    hired_ = 0;
    gate_ = 0;
    taken_ = false;
  }

 private:
  // The gate of the current loop: the number of workers that may still enter (upper half) and the
  // number that are inside (lower half). A worker that wakes late finds no slot, and its caller
  // does not wait for it.
  static constexpr std::uint32_t slot = 1u << 16;
  static constexpr std::uint32_t inside = slot - 1;

  /// Creates missing workers and returns the number available, at most `helpers`. With fewer
  /// workers, the others do all the work.
  int hire(int helpers) {
    helpers = std::min(helpers, max_threads() - 1);
    if (hired_ < helpers && watches_fork()) {
      const SignalsBlocked blocked;
      while (hired_ < helpers && start(workers_[hired_])) ++hired_;
    }
    return std::min(helpers, hired_);
  }

  bool watches_fork();

  static bool start(Worker& worker) {
    worker.asleep = false;
    worker.processors = {};
    const auto serve = [](void* erased) -> void* {
      pool().serve(*static_cast<Worker*>(erased));
      return nullptr;
    };
    if (pthread_create(&worker.thread, nullptr, serve, &worker) != 0) return false;
    pthread_detach(worker.thread);
    return true;
  }

  void wake(int helpers) {
    const auto first_asleep = std::find_if(
        workers_, workers_ + helpers, [](const Worker& worker) { return worker.asleep.load(); });
    if (first_asleep == workers_ + helpers) return;
    const Processors processors = Processors::beside_caller();
    for (Worker* worker = first_asleep; worker != workers_ + helpers; ++worker) {
      if (worker->asleep) worker->processors.move(worker->thread, processors);
    }
    gate_.notify_all();
  }

  [[noreturn]] void serve(Worker& worker) {
    while (true) {
      std::uint32_t gate = wait_for_slots(worker);
      if (!gate_.compare_exchange_strong(gate, gate - slot + 1, std::memory_order_acquire))
        continue;
      work();
      gate_.fetch_sub(1, std::memory_order_release);
      gate_.notify_all();
    }
  }

  void work() {
    Loop& loop = *loop_;
    const ScopedFloatControl as_caller(loop.control);
    const unsigned earlier = float_flags();
    set_float_flags(0);
    run_indices(loop);
    loop.flags.fetch_or(float_flags(), std::memory_order_relaxed);
    set_float_flags(earlier);
  }

  static void run_indices(Loop& loop) {
    try {
      for (std::int64_t i; (i = loop.next.fetch_add(1, std::memory_order_relaxed)) < loop.count;) {
        loop.task(loop.body, i);
      }
    } catch (...) {
      loop.next.store(loop.count, std::memory_order_relaxed);  // stops handing out indices
      if (!loop.failed.exchange(true)) loop.error = std::current_exception();
    }
  }

  void close() {
    gate_.fetch_and(inside, std::memory_order_relaxed);
    const auto is_empty = [](std::uint32_t value) { return value == 0; };
    for (int spin = 0; spin < caller_spins; ++spin) {
      if (is_empty(gate_.load(std::memory_order_acquire))) return;
      if (spin % spins_before_yield == spins_before_yield - 1) sched_yield();
      relax();
    }
    sleep_until(is_empty);
  }

  /// Waits until the gate has slots and returns its value.
  std::uint32_t wait_for_slots(Worker& worker) {
    const auto has_slots = [](std::uint32_t value) { return value >= slot; };
    for (int spin = 0; spin < worker_spins; ++spin) {
      const std::uint32_t gate = gate_.load(std::memory_order_acquire);
      if (has_slots(gate)) return gate;
      relax();
    }
    // This thread writes `asleep` before it reads the gate; the waker writes the gate before it
    // reads `asleep`. In the single total order of these accesses, either this thread sees the gate
    // open, or wake() sees that it is asleep.
    worker.asleep = true;
    const std::uint32_t gate = sleep_until(has_slots);
    worker.asleep = false;
    return gate;
  }

  template <class Condition>
  std::uint32_t sleep_until(Condition holds) {
    std::uint32_t gate;
    while (!holds(gate = gate_.load())) gate_.wait(gate);
    return gate;
  }

  static Pool& pool();

  Worker workers_[max_helpers];
  int hired_ = 0;
  bool watches_fork_ = false;
  std::atomic<bool> taken_ = false;
  Loop* loop_ = nullptr;
  alignas(64) std::atomic<std::uint32_t> gate_ = 0;
};

constinit Pool the_pool;
static_assert(std::is_trivially_destructible_v<Pool>);

Pool& Pool::pool() { return the_pool; }

bool Pool::watches_fork() {
  if (!watches_fork_) {
    watches_fork_ = pthread_atfork(nullptr, nullptr, [] { the_pool.restart_in_child(); }) == 0;
  }
  return watches_fork_;
}

}  // namespace

int max_threads() {
  static const int most = [] {
    const auto processors = std::max(1l, sysconf(_SC_NPROCESSORS_ONLN));
    return static_cast<int>(std::min<long>(4 * processors, max_helpers + 1));
  }();
  return most;
}

namespace detail {

void parallel_for(std::int64_t count, int threads, Task task, const void* body) {
  const FloatControl control = float_control();
  Loop loop{task, body, count, without_traps(control)};
  if (!the_pool.run(loop, threads)) {
    for (std::int64_t i = 0; i < count; ++i) task(body, i);
    return;
  }
  const unsigned raised = loop.flags.load(std::memory_order_relaxed);
  const unsigned known = float_flags();
  if ((raised & ~known) != 0) set_float_flags(known | raised);
  if (loop.error != nullptr) std::rethrow_exception(std::move(loop.error));
  // Raise the trap only here: a handler that jumps out of the loop would leave workers with a
  // dangling stack.
  if (const unsigned trapped = raised & traps_of(control)) {
    std::feraiseexcept(static_cast<int>(trapped));
  }
}

}  // namespace detail
}  // namespace rung::cpu
