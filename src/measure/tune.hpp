#pragma once
// Measures the fastest configuration (tile and splits) of a CUDA rung for a shape, on its device.

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
  ComputeMode compute_mode = ComputeMode::standard;  // of the rung
  Dtype dtype = Dtype::f32;
  cuda::GemmSize size = {};
  cuda::Gpu* gpu = nullptr;
  const cuda::BlockModel* model = nullptr;  // of the rung and type, if there is one
  cuda::GemmConfig before;  // the current configuration: a candidate, and the baseline of the gain
  int threads = 1;          // of this machine, for the virtual GPU
  double seconds = 0.2;     // time budget per candidate in the long round
  /// Called with the current activity, and the fraction that is done.
  std::function<void(std::string_view what, double done)> progress;
};

struct TuneCandidate {
  cuda::GemmConfig config;
  std::string wrong = {};  // the error of its result; empty if it is right
  Summary seconds = {};    // per call; empty for a wrong one
  bool is_finalist = false;
};

struct TuneResult {
  std::vector<TuneCandidate> candidates;  // the one of `before` first
  std::map<std::string, int> refused;     // configurations not launched: reason, number
  std::optional<std::size_t> best;        // empty if none is right
  double gain = 0;                        // time of `before` over that of the best, per round
};

/// Operands are stored by rows, except B of tf32 and 8-bit types, which is stored by columns:
/// tensor cores read these only K-major. Every candidate is verified: the first one that is right
/// by core/verify.hpp, all others on small integers, where results are exact and must be identical.
/// Right candidates are timed in a short round; those within 1.3 of the fastest are timed again,
/// interleaved, for the time budget. The rung must support the dtype and have an image for the
/// device. Throws DriverError, std::bad_alloc, and KernelError for a launch that fails while it is
/// timed.
TuneResult tune(const TuneRequest& request);

}  // namespace rung
