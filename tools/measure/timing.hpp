#pragma once
// Times several candidates in comparison on a machine with other load.

#include <cstdint>
#include <functional>
#include <vector>

#include "backends/backend.hpp"

namespace rung {

struct Candidate {
  BoundCall batch;
  double expected = 0;  // seconds per call, if known; 0 to estimate it
};

/// Seconds per call, one entry per round. Slow candidates take part in fewer rounds; entry i is
/// always from round i, so ratios can be computed by pairs.
struct Timing {
  std::int64_t calls = 0;  // per sample
  std::vector<double> seconds;
};

struct TimingOptions {
  double seconds = 0.5;  // time budget per candidate, including warm-up and waiting
  // Samples of each candidate, unless they take more than ten times its budget.
  std::size_t least_samples = 1;
  std::function<void(double done)> progress = {};  // called after every round
  std::function<bool()> stopped = {};              // true ends the timing after the current sample
};

/// Takes one sample of each candidate per round (A B C, then C B A, …): waits until the process is
/// idle, warms up, and times a batch of calls that is long compared to the clock's resolution.
/// Every candidate is sampled at least once, unless the timing is stopped.
std::vector<Timing> time_interleaved(const std::vector<Candidate>& candidates,
                                     const TimingOptions& options);

/// The time in seconds of a batch of `calls`, from the start of the first to the end of the last.
/// Uses the device's clock if the batch has one, otherwise the host's.
double time_batch(const BoundCall& batch, std::int64_t calls);

/// The time in seconds to enqueue this number of calls in an empty stream. The stream must have
/// capacity for all of them, because enqueueing blocks if it is full.
double time_enqueue(const BoundCall& batch, std::int64_t calls);

}  // namespace rung
