#include "vgpu/driver/host_threads.hpp"

#include <sys/select.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace rung::vgpu {
namespace {

namespace fs = std::filesystem;
using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds longest_wait{100}, longest_waits{1000};
constexpr int pause_microseconds = 100;  // between two looks at the threads
constexpr const char* tasks = "/proc/self/task";

struct Threads {
  std::mutex mutex;
  std::multiset<SteadyClock::time_point> wake_up_times;  // of those that sleep
  std::set<fs::path> waiting;                            // in let_other_threads_go_first()
};

Threads& threads() {
  // Never destroyed: threads may end after the program's static objects.
  static auto& the_threads = *new Threads;
  return the_threads;
}

std::atomic<int> threads_in_calls = 0;
std::atomic<int> threads_with_calls = 0;   // those that have made one
std::atomic<SteadyClock::rep> waited = 0;  // in all calls, in units of the clock

int& calls_of_thread() {
  thread_local int calls = 0;
  return calls;
}

bool wakes_up_before(SteadyClock::time_point time) {
  const std::lock_guard lock(threads().mutex);
  const auto& times = threads().wake_up_times;
  return !times.empty() && *times.begin() <= time;
}

bool is_waiting(const fs::path& thread) {
  const std::lock_guard lock(threads().mutex);
  return threads().waiting.contains(thread);
}

/// True if a thread runs, or is about to (proc_pid_stat(5)).
bool is_running(const fs::path& thread) {
  std::ifstream file(fs::path(tasks) / thread / "stat");
  std::string line;
  std::getline(file, line);
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos || name_end + 2 >= line.size()) return false;
  const char state = line[name_end + 2];
  return state == 'R' || state == 'D';
}

/// The other threads of the process, as folders in /proc.
std::vector<fs::path> other_threads(const fs::path& own) {
  std::vector<fs::path> others;
  std::error_code error;
  for (fs::directory_iterator at(tasks, error), end; !error && at != end; at.increment(error)) {
    if (at->path().filename() != own) others.push_back(at->path().filename());
  }
  return others;
}

/// Names this thread as one that waits, while it exists.
class WaitingThread {
 public:
  explicit WaitingThread(fs::path thread) : thread_(std::move(thread)) {
    const std::lock_guard lock(threads().mutex);
    threads().waiting.insert(thread_);
  }
  ~WaitingThread() {
    const std::lock_guard lock(threads().mutex);
    threads().waiting.erase(thread_);
  }
  WaitingThread(const WaitingThread&) = delete;
  WaitingThread& operator=(const WaitingThread&) = delete;

 private:
  fs::path thread_;
};

/// Not a sleep, which other threads would wait for.
void pause_briefly() {
  timeval time{0, pause_microseconds};
  select(0, nullptr, nullptr, nullptr, &time);
}

}  // namespace

SleepingThread::SleepingThread(std::chrono::nanoseconds time) : end_(SteadyClock::now() + time) {
  const std::lock_guard lock(threads().mutex);
  threads().wake_up_times.insert(end_);
}

SleepingThread::~SleepingThread() {
  const std::lock_guard lock(threads().mutex);
  threads().wake_up_times.erase(threads().wake_up_times.find(end_));
}

}  // namespace rung::vgpu

namespace rung::vgpu::driver {

ThreadInCall::ThreadInCall() {
  thread_local bool has_called = false;
  if (!std::exchange(has_called, true)) ++threads_with_calls;
  if (calls_of_thread()++ == 0) ++threads_in_calls;
}

ThreadInCall::~ThreadInCall() {
  if (--calls_of_thread() == 0) --threads_in_calls;
}

void let_other_threads_go_first() {
  if (calls_of_thread() != 0 || waited >= SteadyClock::duration(longest_waits).count()) return;
  std::error_code error;
  const fs::path own = fs::read_symlink("/proc/thread-self", error).filename();
  const WaitingThread waiting(own);
  const SteadyClock::time_point begin = SteadyClock::now(), end = begin + longest_wait;
  // A thread that wakes up another one may be seen to wait before the other one is seen to run.
  const int looks = threads_with_calls > 1 ? 2 : 1;
  for (int quiet_looks = 0; quiet_looks < looks && SteadyClock::now() < end;) {
    const std::vector<fs::path> others = other_threads(own);
    if (others.empty()) return;
    const bool is_quiet = threads_in_calls == 0 && !wakes_up_before(end) &&
                          std::ranges::none_of(others, [](const fs::path& thread) {
                            return !is_waiting(thread) && is_running(thread);
                          });
    quiet_looks = is_quiet ? quiet_looks + 1 : 0;
    if (quiet_looks < looks) pause_briefly();
  }
  waited += (SteadyClock::now() - begin).count();
}

}  // namespace rung::vgpu::driver
