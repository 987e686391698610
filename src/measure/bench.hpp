#pragma once
// Verifies, then times, every contender on one problem.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/rung.hpp"
#include "measure/contender.hpp"
#include "measure/peers/peer.hpp"
#include "measure/statistics.hpp"
#include "measure/workload.hpp"

namespace rung {

enum class Kind { rung, library, peer };

/// One contender against one peer.
struct Comparison {
  std::string peer;
  double seconds = 0;        // the peer's median; 0 if it was not timed
  double ratio = 0;          // median over rounds of peer time / own time: above 1, Rung is faster
  double margin = 0;         // of that ratio: margin_of_median()
  std::string why_not = {};  // if it was not timed
  double graph_seconds = 0;  // the same inside a graph; 0 unless both were timed there
  double graph_ratio = 0;
  std::optional<ElementErrors> errors = std::nullopt;  // the peer's
};

struct BenchRow {
  Kind kind = Kind::rung;
  std::string name;        // a rung's id, "library", or the peer's name
  std::string slug;        // a rung's slug, otherwise the name
  std::string bottleneck;  // of a rung, from its header
  std::string chose;       // the rung that the library chose
  std::string skipped;     // why it was skipped; empty if it ran
  ComputeMode compute_mode = ComputeMode::standard;
  Verdict verdict;  // only right contenders are timed
  std::optional<ElementErrors> errors;
  Summary seconds;           // per call, back to back
  bool own_clock = false;    // the device's clock for those seconds; otherwise the host's
  Summary graph_seconds;     // per call inside a graph: device time only
  Summary host_seconds;      // per call, until it is enqueued
  double ceiling_ratio = 0;  // 0 if there is no ceiling
  std::string previous;      // the rung that it improves on, if that was timed, too
  double previous_ratio = 0, previous_margin = 0;
  std::vector<Comparison> peers;  // not for peers

  bool timed() const { return seconds.count > 0; }
  bool wrong() const { return skipped.empty() && !verdict.right; }
};

struct BenchResult {
  std::string op;
  Size size;
  WorkloadOptions options;
  std::string device;
  double flops = 0;
  double bytes = 0;
  bool counts_flops = true;
  std::vector<std::int64_t> leading_dimensions;  // of A, B, C; none for vectors
  std::size_t operand_sets = 1;                  // more than one if cold
  std::string ceiling;         // what the ceiling is: "f32 multiply-add", "read"; empty for none
  double ceiling_rate = 0;     // flops (or bytes) per second, in this run
  std::vector<BenchRow> rows;  // rungs in ladder order, the library, peers
};

struct BenchRequest {
  std::string op;
  Size size;
  WorkloadOptions options;
  double seconds = 0.5;  // time budget per measurement
  const Backend* backend = nullptr;
  std::vector<const RungInfo*> rungs;  // of this op
  const Contender* own = nullptr;      // a kernel of the user's, compared with the first rung
  bool with_library = true;
  std::vector<const Peer*> peers;
  /// Called with the current activity, and the fraction of the timing that is done.
  std::function<void(std::string_view what, double done)> progress;
};

BenchResult run_bench(const BenchRequest& request);

}  // namespace rung
