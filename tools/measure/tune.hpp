#pragma once
// Finds the fastest configuration (tile and splits) of a CUDA rung for a shape by measurements on
// its device.

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/cuda/gpu.hpp"
#include "backends/rungs/cuda.hpp"
#include "select/cuda/tuned.hpp"
#include "tools/measure/statistics.hpp"

namespace rung {

struct TuneRequest {
  cuda::NamedGemmRung rung = {};
  ComputeMode compute_mode = ComputeMode::standard;  // of the rung
  Dtype dtype = Dtype::f32;
  cuda::GemmSize size = {};
  cuda::Gpu* gpu = nullptr;
  const cuda::BlockModel* model = nullptr;  // of the rung and data type; may be null
  cuda::GemmConfig before;  // the current configuration: a candidate, and the baseline of the gain
  int threads = 1;          // host threads, for the virtual GPU
  double seconds = 0.2;     // time budget per candidate in the long round
  /// Called with the current activity and the completed fraction.
  std::function<void(std::string_view what, double done)> progress;
};

struct TuneCandidate {
  cuda::GemmConfig config;
  std::string wrong = {};  // error of its result; empty if correct
  Summary seconds = {};    // per call; empty if wrong
  bool is_finalist = false;
};

struct TuneResult {
  std::vector<TuneCandidate> candidates;  // that of `before` first
  std::map<std::string, int> refused;     // number of configurations not launched, by reason
  std::optional<std::size_t> best;        // empty if none is correct
  double gain = 0;                        // time of `before` divided by that of the best, per round
};

/// Operands are row-major, except B of tf32 and 8-bit types, which is column-major: tensor cores
/// support only K-major operands of these types. Every candidate is verified: the first correct one
/// by core/verify.hpp, all others on small integers, for which results are exact and must be
/// identical. Correct candidates are timed in a short round; those within a factor of 1.3 of the
/// fastest are timed again, interleaved, for the time budget. The rung must support the dtype and
/// have an image for the device. Throws DriverError, std::bad_alloc, and KernelError if a launch
/// fails while it is timed.
TuneResult tune(const TuneRequest& request);

}  // namespace rung
