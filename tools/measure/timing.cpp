#include "tools/measure/timing.hpp"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

namespace rung {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t max_rounds = 100;
constexpr double sample_seconds = 0.010;  // long compared to the clock's resolution

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double process_cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// The worker threads of a BLAS spin for milliseconds after a call, and would occupy CPUs of the
// next candidate.
void wait_until_quiet() {
  const auto start = Clock::now();
  while (seconds_since(start) < 0.050) {
    const auto nap = Clock::now();
    const double busy = process_cpu_seconds();
    std::this_thread::sleep_for(std::chrono::microseconds(500));
    if (process_cpu_seconds() - busy < 0.2 * seconds_since(nap)) return;
  }
}

// Determines the number of calls in a sample.
std::int64_t calibrate(const Candidate& candidate, double sample) {
  if (candidate.expected > sample) return 1;
  constexpr std::int64_t max_calls = std::int64_t{1} << 32;
  std::int64_t calls = 1;
  for (;;) {
    const double seconds = time_batch(candidate.batch, calls);
    if (seconds >= sample || calls >= max_calls) return calls;
    const double needed = 1.2 * sample * static_cast<double>(calls) / std::max(seconds, 1e-9);
    calls = std::clamp(std::llround(std::ceil(needed)), calls + 1LL, calls * 16LL);
  }
}

}  // namespace

double time_batch(const BoundCall& batch, std::int64_t calls) {
  const auto start = Clock::now();
  batch.run(calls);
  const double seconds = seconds_since(start);
  return batch.device_seconds().value_or(seconds);
}

double time_enqueue(const BoundCall& batch, std::int64_t calls) {
  batch.wait();
  const auto start = Clock::now();
  batch.enqueue(calls);
  const double seconds = seconds_since(start);
  batch.wait();
  return seconds;
}

std::vector<Timing> time_interleaved(const std::vector<Candidate>& candidates,
                                     const TimingOptions& options) {
  const double sample = std::min(sample_seconds, options.seconds / 5);
  const std::size_t count = candidates.size();
  std::vector<Timing> timings(count);
  std::vector<double> spent(count, 0.0);

  const auto take_sample = [&](std::size_t i) {
    const auto start = Clock::now();
    wait_until_quiet();
    Timing& timing = timings[i];
    if (timing.calls == 0) timing.calls = calibrate(candidates[i], sample);
    // A long call needs no separate warm-up.
    const bool is_long = candidates[i].expected > 10 * sample;
    if (!is_long) candidates[i].batch.run(std::max<std::int64_t>(1, timing.calls / 8));
    const double seconds = time_batch(candidates[i].batch, timing.calls);
    timing.seconds.push_back(seconds / static_cast<double>(timing.calls));
    spent[i] += seconds_since(start);
  };

  const auto is_active = [&](std::size_t i, std::size_t round) {
    const std::size_t samples = timings[i].seconds.size();
    if (samples != round) return false;
    if (samples < options.least_samples) return spent[i] < 10 * options.seconds;
    return spent[i] < options.seconds;
  };
  const auto is_stopped = [&] { return options.stopped && options.stopped(); };

  for (std::size_t round = 0; round < max_rounds && !is_stopped(); ++round) {
    bool any = false;
    for (std::size_t step = 0; step < count; ++step) {
      const std::size_t i = round % 2 == 0 ? step : count - 1 - step;
      if (!is_active(i, round) || is_stopped()) continue;
      take_sample(i);
      any = true;
    }
    if (!any) break;
    if (options.progress) {
      double done = 0;
      for (const double seconds : spent) done += std::min(1.0, seconds / options.seconds);
      options.progress(done / static_cast<double>(count));
    }
  }
  return timings;
}

}  // namespace rung
