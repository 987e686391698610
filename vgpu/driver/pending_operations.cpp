#include "vgpu/driver/pending_operations.hpp"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <numeric>
#include <thread>
#include <utility>

#include "vgpu/driver/call.hpp"

namespace rung::vgpu::driver {
namespace {

/// Runs functions of the host that have been held back for some time. All members are protected by
/// Process::mutex.
class LateRunner {
 public:
  /// Runs everything pending after a while, unless cancel() is called before.
  void start() {
    due_ = Clock::now() + delay_;
    if (!std::exchange(has_thread_, true)) start_thread();
    changed_.notify_one();
  }
  void cancel() { due_.reset(); }

 private:
  void start_thread() {
    // Signals of the program are for its own threads, except for faults of the function.
    sigset_t blocked, before;
    sigfillset(&blocked);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP}) sigdelset(&blocked, fault);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    std::thread([this] { run(); }).detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  void run() {
    std::unique_lock lock(process().mutex);
    for (;;) {
      if (!due_) {
        changed_.wait(lock);
      } else if (changed_.wait_until(lock, *due_); due_ && *due_ <= Clock::now()) {
        due_.reset();
        delay_ = std::max(delay_ / 2, shortest_delay);  // a program that polls often
        process().pending.run_all();
      }
    }
  }

  // Not steady_clock: pthread_cond_clockwait, which waits by it, needs glibc 2.30.
  using Clock = std::chrono::system_clock;

  static constexpr std::chrono::microseconds shortest_delay{500};
  std::chrono::microseconds delay_{200'000};
  std::optional<Clock::time_point> due_;
  std::condition_variable_any changed_;
  bool has_thread_ = false;
};

LateRunner& late_runner() {
  // Never destroyed: its thread waits until the process ends.
  static LateRunner* const runner = new LateRunner;
  return *runner;
}

}  // namespace

void PendingOperations::set_schedule(std::uint64_t seed) {
  schedule_.reset();
  if (seed != 0) schedule_.emplace(seed);
}

PendingOperations::Number PendingOperations::add(ContextState& context, StreamState& stream,
                                                 Operation operation, std::optional<Number> other) {
  Pending added{process().contexts.at(context.handle),
                &stream,
                std::move(operation),
                process().order.call(),
                {}};
  for (const auto& [earlier, index] : last_) {
    if (follows(context, stream, *earlier)) added.after.push_back(index);
  }
  if (other && other->batch == batch_) added.after.push_back(other->index);
  pending_.push_back(std::move(added));
  const std::size_t index = pending_.size() - 1;
  last_[&stream] = index;
  return {batch_, index};
}

void PendingOperations::add_host_function(ContextState& context, StreamState& stream,
                                          Operation function) {
  if (pending_.empty()) late_runner().start();
  add(context, stream, std::move(function));
}

void PendingOperations::run(Number last) {
  if (last.batch == batch_) run_these({last.index});
}

void PendingOperations::run(const ContextState& context, const StreamState& stream) {
  std::vector<std::size_t> last;
  for (const auto& [earlier, index] : last_) {
    if (follows(context, stream, *earlier)) last.push_back(index);
  }
  run_these(std::move(last));
}

void PendingOperations::run_all() {
  std::vector<std::size_t> all;
  for (const auto& [stream, index] : last_) all.push_back(index);
  run_these(std::move(all));
}

std::vector<std::size_t> PendingOperations::order_of(
    const std::vector<std::vector<std::size_t>>& after) {
  if (schedule_) return random_order(after, *schedule_);
  std::vector<std::size_t> order(after.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

/// Runs these operations and all that precede them.
void PendingOperations::run_these(std::vector<std::size_t> last) {
  if (is_running_ || pending_.empty()) return;
  std::map<std::size_t, std::size_t> position;  // of those that have not run, in `chosen`
  std::vector<std::size_t> chosen;
  while (!last.empty()) {
    const std::size_t index = last.back();
    last.pop_back();
    if (pending_[index].has_run || !position.try_emplace(index, chosen.size()).second) continue;
    chosen.push_back(index);
    last.insert(last.end(), pending_[index].after.begin(), pending_[index].after.end());
  }
  if (!schedule_) {  // in the order of their calls
    std::ranges::sort(chosen);
    for (std::size_t i = 0; i < chosen.size(); ++i) position[chosen[i]] = i;
  }
  std::vector<std::vector<std::size_t>> after(chosen.size());
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    for (const std::size_t other : pending_[chosen[i]].after) {
      if (const auto found = position.find(other); found != position.end()) {
        after[i].push_back(found->second);
      }
    }
  }
  is_running_ = true;
  for (const std::size_t i : order_of(after)) run_one(pending_[chosen[i]]);
  is_running_ = false;
  std::erase_if(last_, [&](const auto& entry) { return pending_[entry.second].has_run; });
  if (!last_.empty()) return;
  pending_.clear();
  ++batch_;
  late_runner().cancel();
}

/// An operation after a fault does nothing. One that fails makes later calls fail, as a kernel does.
void PendingOperations::run_one(Pending& operation) {
  operation.has_run = true;
  ContextState& context = *operation.context;
  const Operation run = std::move(operation.run);
  if (context.sticky != Result::success) return;
  try {
    process().order.operate(context, *operation.stream, operation.call, [&] { run(context); });
  } catch (...) {
    context.sticky = result_of_exception();
    context.sticky_message = last_message();
  }
}

}  // namespace rung::vgpu::driver
