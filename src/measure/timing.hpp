#pragma once
// Times several candidates against each other on a machine that others use too.

#include <cstdint>
#include <functional>
#include <vector>

#include "backends/backend.hpp"

namespace rung {

struct Candidate {
  Batch batch;
  double expected = 0;  // seconds a call, as far as known; 0: find out
};

/// Seconds a call, one entry a round. Slow candidates leave early, so entry i of two candidates is
/// always the same round i: ratios are taken pair by pair.
struct Timing {
  std::int64_t calls = 0;  // in one sample
  std::vector<double> seconds;
};

struct TimingOptions {
  double seconds = 0.5;  // time budget of one candidate, its warm-up and the waiting included
  std::function<void(double done)> progress;  // told the fraction after every round
};

/// Round by round, takes one sample of each candidate (A B C, then C B A, …): waits until the
/// process is quiet, warms up, times a batch of calls long enough for the clock. Every candidate is
/// sampled at least once.
std::vector<Timing> time_interleaved(const std::vector<Candidate>& candidates,
                                     const TimingOptions& options);

/// Seconds that one batch of `calls` takes, from the first one's start to the last one's end: by
/// the device's clock where the batch tells that, else by the host's.
double time_batch(const Batch& batch, std::int64_t calls);

/// Seconds until that many calls are in the device's queue, which is empty before. The queue must
/// hold them all: a full one makes the caller wait for the device.
double time_enqueue(const Batch& batch, std::int64_t calls);

}  // namespace rung
