#include "device/cpu/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <system_error>
#include <thread>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif
#if defined(__linux__)
#include <sched.h>
#endif
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace rung::cpu {
namespace {

void relax() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// About 100 us: long enough to bridge the serial parts of a call, uneven blocks and back-to-back
// calls; short enough not to take a core away from whatever the program does next.
constexpr int spins_before_sleep = 2000;

// A scheduler may queue a woken thread behind its waker, which stays busy, for a time slice of
// milliseconds: longer than most calls. So a sleeping worker is first barred from the processor
// that wakes it.
class Placement {
 public:
  void avoid_this_processor([[maybe_unused]] std::thread& worker) {
#if defined(__linux__)
    const int here = sched_getcpu();
    if (here == avoided_ || here < 0) return;
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return;
    CPU_CLR(here, &set);
    if (CPU_COUNT(&set) == 0) return;
    if (pthread_setaffinity_np(worker.native_handle(), sizeof set, &set) == 0) avoided_ = here;
#endif
  }

 private:
  int avoided_ = -1;
};

struct Worker {
  std::thread thread;
  std::atomic<bool> asleep = false;
  Placement placement;
};

class Pool {
 public:
  ~Pool() {
    stopping_ = true;
    // More slots than workers: a worker that is late for the last loop occupies a slot.
    gate_.fetch_add(static_cast<std::uint32_t>(max_helpers) * slot, std::memory_order_release);
    gate_.notify_all();
    for (Worker& worker : workers_) worker.thread.join();
  }

  /// Returns false if the pool is in use, by another caller or by the loop that encloses this call.
  bool run(std::int64_t count, int threads, detail::Task task, const void* body) {
    if (taken_.exchange(true, std::memory_order_acquire)) return false;
    const auto helpers =
        static_cast<int>(std::min<std::int64_t>({threads - 1, count - 1, max_helpers}));
    hire(helpers);
    task_ = task;
    body_ = body;
    count_ = count;
    next_.store(0, std::memory_order_relaxed);
    gate_.store(static_cast<std::uint32_t>(std::min<std::size_t>(helpers, workers_.size())) * slot);
    wake(helpers);
    work();
    close();
    taken_.store(false, std::memory_order_release);
    return true;
  }

 private:
  // The gate of the current loop: how many more workers may enter (upper half), and how many are
  // inside (lower half). A worker that wakes late finds no slot, and nobody waits for it.
  static constexpr std::uint32_t slot = 1u << 16;
  static constexpr std::uint32_t inside = slot - 1;
  static constexpr std::int64_t max_helpers = 1 << 14;

  void hire(int helpers) {
    try {
      while (static_cast<int>(workers_.size()) < helpers) {
        Worker& worker = workers_.emplace_back();
        worker.thread = std::thread([this, &worker] { serve(worker); });
      }
    } catch (const std::system_error&) {  // no more threads available: fewer do the same work
      workers_.pop_back();
    }
  }

  void wake(int helpers) {
    bool sleepers = false;
    for (Worker& worker : workers_) {
      if (helpers-- == 0) break;
      if (!worker.asleep) continue;
      worker.placement.avoid_this_processor(worker.thread);
      sleepers = true;
    }
    if (sleepers) gate_.notify_all();
  }

  void serve(Worker& worker) {
    while (true) {
      std::uint32_t gate =
          wait_until([](std::uint32_t value) { return value >= slot; }, &worker.asleep);
      if (stopping_) return;
      if (!gate_.compare_exchange_strong(gate, gate - slot + 1, std::memory_order_acquire))
        continue;
      work();
      gate_.fetch_sub(1, std::memory_order_release);
      gate_.notify_all();
    }
  }

  void work() {
    for (std::int64_t i; (i = next_.fetch_add(1, std::memory_order_relaxed)) < count_;) {
      task_(body_, i);
    }
  }

  void close() {
    gate_.fetch_and(inside, std::memory_order_relaxed);
    wait_until([](std::uint32_t value) { return value == 0; }, nullptr);
  }

  template <class Condition>
  std::uint32_t wait_until(Condition holds, std::atomic<bool>* asleep) {
    for (int spin = 0; spin < spins_before_sleep; ++spin) {
      const std::uint32_t gate = gate_.load(std::memory_order_acquire);
      if (holds(gate)) return gate;
      relax();
    }
    // This thread writes `asleep` before it reads the gate; the waker writes the gate before it
    // reads `asleep`. In the single total order of both, either this thread finds the gate open or
    // wake() finds it asleep.
    if (asleep != nullptr) *asleep = true;
    std::uint32_t gate;
    while (!holds(gate = gate_.load())) gate_.wait(gate);
    if (asleep != nullptr) *asleep = false;
    return gate;
  }

  std::deque<Worker> workers_;
  std::atomic<bool> taken_ = false;
  std::atomic<bool> stopping_ = false;
  detail::Task task_ = nullptr;
  const void* body_ = nullptr;
  std::int64_t count_ = 0;
  alignas(64) std::atomic<std::int64_t> next_ = 0;
  alignas(64) std::atomic<std::uint32_t> gate_ = 0;
};

// Threads do not survive fork(): the child starts a pool of its own, and leaves the parent's alone,
// whose workers it does not have.
struct Owner {
  Pool* pool = new Pool;

  Owner() {
#if defined(__unix__) || defined(__APPLE__)
    pthread_atfork(nullptr, nullptr, [] { owner().pool = new Pool; });
#endif
  }
  ~Owner() { delete pool; }

  static Owner& owner() {
    static Owner only;
    return only;
  }
};

}  // namespace

namespace detail {

void parallel_for(std::int64_t count, int threads, Task task, const void* body) {
  if (Owner::owner().pool->run(count, threads, task, body)) return;
  for (std::int64_t i = 0; i < count; ++i) task(body, i);
}

}  // namespace detail
}  // namespace rung::cpu
