#pragma once
// The library against its peers on random shapes.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/cuda/rungs.hpp"
#include "core/rung.hpp"
#include "measure/bench.hpp"
#include "measure/contenders.hpp"
#include "measure/random/plan_times.hpp"
#include "measure/random/shapes.hpp"

namespace rung {

/// One shape with its type and layout: the library, its peers and, with regret, every plan.
struct RandomResult {
  Dtype dtype = Dtype::f32;
  Size size;
  bool a_transposed = false, b_transposed = false;
  LibraryPlan plan;     // that the library chose
  double seconds = 0;   // the library's median per call; 0 if it was not timed
  std::string skipped;  // why the library has no such product; empty if it has
  std::string wrong;    // the error of its result; empty if it is right
  std::vector<Comparison> peers;
  std::vector<PlanTime> plans;  // empty without regret
  std::size_t best_plan = 0;    // index of the fastest; plans.size() if there is none
  double regret = 0;            // time of the chosen plan over that of the fastest; 0: unknown

  /// Time of the fastest peer over the library's; 0 if no peer was timed.
  double ratio() const;
};

/// "nt"
std::string layout_name(bool a_transposed, bool b_transposed);

struct Layout {
  bool a_transposed, b_transposed;
};

struct RandomRequest {
  std::uint64_t seed = 1;
  std::int64_t count = 0;   // shapes for each type and layout
  std::vector<Size> sizes;  // these instead of random shapes, if there are any: `count` of them
  DrawLimits limits;
  std::vector<Dtype> dtypes;
  std::vector<Layout> layouts;
  double beta = 0;  // C = A B + beta C
  /// Of the library's calls. With another one than standard, the library in mode standard is one of the
  /// peers.
  ComputeMode compute_mode = ComputeMode::standard;
  double seconds = 0.05;     // time budget per measurement
  int threads = 1;           // of this machine, for the CPU and the virtual GPU
  cuda::Gpu* gpu = nullptr;  // null: the CPU
  std::vector<const Peer*> peers;
  /// Of these rungs, every plan is timed; none: no regret. Those of the device count.
  std::vector<cuda::NamedGemmRung> rungs;
  std::vector<const RungInfo*> cpu_rungs;
  /// Called with the current activity, and the fraction of all that is done.
  std::function<void(std::string_view what, double done)> progress;
  /// Called with each result; and whether to end early.
  std::function<void(const RandomResult& result)> measured;
  std::function<bool()> stops;

  bool has_regret() const { return gpu != nullptr ? !rungs.empty() : !cpu_rungs.empty(); }
};

/// Each shape is measured in all types and layouts before the next, so a run that ends early has
/// measured all of them. Throws cuda::DriverError and std::bad_alloc.
void run_random_bench(const RandomRequest& request);

}  // namespace rung
