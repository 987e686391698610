#pragma once
// Times several candidates against each other on a machine with other load.

#include <cstdint>
#include <functional>
#include <vector>

#include "backends/backend.hpp"

namespace rung {

struct Candidate {
  Batch batch;
  double expected = 0;  // seconds per call, if known; 0: estimate
};

/// Seconds per call, one entry per round. Slow candidates drop out early, so entry i of two
/// candidates always belongs to the same round i, and ratios can be computed per pair.
struct Timing {
  std::int64_t calls = 0;  // per sample
  std::vector<double> seconds;
};

struct TimingOptions {
  double seconds = 0.5;  // time budget per candidate, including warm-up and waiting
  std::function<void(double done)> progress;  // called with the fraction after every round
};

/// Takes one sample of each candidate per round (A B C, then C B A, …): waits until the process is
/// quiet, warms up, and times a batch of calls that is long enough for the clock. Every candidate
/// is sampled at least once.
std::vector<Timing> time_interleaved(const std::vector<Candidate>& candidates,
                                     const TimingOptions& options);

/// The seconds of one batch of `calls`, from the start of the first to the end of the last: by the
/// device's clock if the batch has one, otherwise by the host's.
double time_batch(const Batch& batch, std::int64_t calls);

/// The seconds until that many calls are enqueued in an empty queue. The queue must be able to hold
/// all of them, because a full one blocks the caller.
double time_enqueue(const Batch& batch, std::int64_t calls);

}  // namespace rung
