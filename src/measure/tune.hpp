#pragma once
// Which plan of a CUDA rung is the fastest for a shape: measured, on the device that it is for.

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/cuda/gpu.hpp"
#include "backends/cuda/rungs.hpp"
#include "backends/cuda/tuned.hpp"
#include "measure/statistics.hpp"

namespace rung {

struct TuneRequest {
  cuda::NamedGemmRung rung = {};
  Dtype dtype = Dtype::f32;
  cuda::GemmSize size = {};
  cuda::Gpu* gpu = nullptr;
  cuda::GemmPlan before;  // what the data gives: a candidate, and what the best is held against
  int threads = 1;        // of this machine, for the virtual GPU
  double seconds = 0.2;   // time budget of one candidate that is among the fast ones
  /// Told what is being done, and the fraction of it that is done.
  std::function<void(std::string_view what, double done)> progress;
};

struct TuneCandidate {
  cuda::GemmPlan plan;
  std::string wrong = {};  // what was wrong with its result; empty if it is right
  Summary seconds = {};    // of a call; none for a wrong one
  bool is_finalist = false;
};

struct TuneResult {
  std::vector<TuneCandidate> candidates;  // that of `before` first
  std::map<std::string, int> refused;     // plans that were never launched: why, and how many
  std::optional<std::size_t> best;        // none if none is right
  double gain = 0;                        // time of `before` over that of the best, round by round
};

/// Operands are stored by rows, but for B of tf32 and of types of 8 bits, which is stored by
/// columns: tensor cores read these along k alone. Every candidate is verified: the first one that
/// is right by core/verify.hpp, all others by small integers, on which its result is exact and
/// theirs must be the same. Those that are right are timed in one short round, and those among them
/// that are within 1.3 of the fastest once more, in turns, for the time budget. The rung must have
/// the dtype and an image for the device. Throws DriverError, std::bad_alloc, and KernelError for a
/// launch that fails while it is timed.
TuneResult tune(const TuneRequest& request);

}  // namespace rung
