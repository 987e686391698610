#pragma once
// Compares the library with its peers on random shapes.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/rungs/cuda.hpp"
#include "core/rung.hpp"
#include "tools/measure/bench.hpp"
#include "tools/measure/contenders.hpp"
#include "tools/measure/random/plan_times.hpp"
#include "tools/measure/random/shapes.hpp"

namespace rung {

/// A shape with data type and layout: the times of the library, its peers and, with regret, all
/// plans.
struct RandomResult {
  Dtype dtype = Dtype::f32;
  Size size;
  bool a_transposed = false, b_transposed = false;
  LibraryPlan plan;     // chosen by the library
  double seconds = 0;   // the library's median per call; 0 if it was not timed
  std::string skipped;  // reason if the library does not support the product; otherwise empty
  std::string wrong;    // error of the library's result; empty if correct
  std::vector<Comparison> peers;
  std::vector<PlanTime> plans;  // empty without regret
  std::size_t best_plan = 0;    // index of the fastest; plans.size() if unknown
  double regret = 0;            // chosen plan's time divided by the fastest's; 0 if unknown

  /// The time of the fastest peer divided by the library's; 0 if no peer was timed.
  double ratio() const;
};

/// "nt"
std::string layout_name(bool a_transposed, bool b_transposed);

struct Layout {
  bool a_transposed, b_transposed;
};

struct RandomRequest {
  std::uint64_t seed = 1;
  std::int64_t count = 0;   // shapes per data type and layout
  std::vector<Size> sizes;  // used instead of random shapes if not empty; has `count` elements
  DrawLimits limits;
  std::vector<Dtype> dtypes;
  std::vector<Layout> layouts;
  double beta = 0;  // C = A B + beta C
  /// The compute mode of the library. If it is not standard, the library in standard mode is one of
  /// the peers.
  ComputeMode compute_mode = ComputeMode::standard;
  double seconds = 0.05;     // time budget per measurement
  int threads = 1;           // host threads, for the CPU and the virtual GPU
  cuda::Gpu* gpu = nullptr;  // null for the CPU
  std::vector<const Peer*> peers;
  /// Times all plans of these rungs (those of the device's backend); no regret if empty.
  std::vector<cuda::NamedGemmRung> rungs;
  std::vector<const RungInfo*> cpu_rungs;
  /// Called with the current activity and the completed fraction.
  std::function<void(std::string_view what, double done)> progress;
  /// `measured` is called with each result; `stops` returns true to stop early.
  std::function<void(const RandomResult& result)> measured;
  std::function<bool()> stops;

  bool has_regret() const { return gpu != nullptr ? !rungs.empty() : !cpu_rungs.empty(); }
};

/// Measures each shape in all data types and layouts before the next one, so that a run stopped
/// early covers all of them. Throws cuda::DriverError and std::bad_alloc.
void run_random_bench(const RandomRequest& request);

}  // namespace rung
