#pragma once
// Verifies, then times, all contenders on a problem.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/rung.hpp"
#include "tools/measure/contender.hpp"
#include "tools/measure/peers/peer.hpp"
#include "tools/measure/statistics.hpp"
#include "tools/measure/workload.hpp"

namespace rung {

enum class Kind { rung, library, peer };

/// The comparison of a contender with a peer.
struct Comparison {
  std::string peer;
  double seconds = 0;        // the peer's median; 0 if it was not timed
  double ratio = 0;          // median over rounds of peer time / own time; above 1, Rung is faster
  double margin = 0;         // of the ratio, see margin_of_ratio()
  std::string why_not = {};  // the reason if it was not timed
  double graph_seconds = 0;  // the same in a graph; 0 unless both were timed in a graph
  double graph_ratio = 0;
  std::optional<ElementErrors> errors = std::nullopt;  // the peer's
};

struct BenchRow {
  Kind kind = Kind::rung;
  std::string name;        // a rung's id, "library", or the peer's name
  std::string slug;        // a rung's slug, otherwise the name
  std::string bottleneck;  // of the rung, from its header
  std::string chose;       // the rung chosen by the library
  std::string skipped;     // reason if it was skipped; empty if it ran
  ComputeMode compute_mode = ComputeMode::standard;
  Verdict verdict;  // only correct contenders are timed
  std::optional<ElementErrors> errors;
  Summary seconds;           // per call, back to back
  bool own_clock = false;    // true if measured by the device's clock instead of the host's
  Summary graph_seconds;     // per call in a graph: device time only
  Summary host_seconds;      // per call, until it is enqueued
  double ceiling_ratio = 0;  // 0 if there is no ceiling
  double ceiling_margin = 0;
  std::string previous;  // the rung that it improves on, if also timed
  double previous_ratio = 0, previous_margin = 0;
  std::vector<Comparison> peers;  // empty for peers

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
  std::vector<std::int64_t> leading_dimensions;  // of A, B and C; empty for vectors
  std::size_t operand_sets = 1;                  // more than one for a cold cache
  std::string ceiling;      // "f32 multiply-add", "read"; empty if there is no ceiling
  double ceiling_rate = 0;  // FLOP/s or bytes/s in this run
  // While a CPU was timed: CPUs that other programs used, on average, of those of this process.
  double load_by_others = 0;
  int processors = 1;
  std::vector<BenchRow> rows;  // rungs in ladder order, the library, peers
};

struct BenchRequest {
  std::string op;
  Size size;
  WorkloadOptions options;
  double seconds = 0.5;  // time budget per measurement
  const Backend* backend = nullptr;
  std::vector<const RungInfo*> rungs;  // of this operation
  const Contender* own = nullptr;      // a user's kernel, compared with the first rung
  bool with_library = true;
  std::vector<const Peer*> peers;
  /// Called with the current activity, and the completed fraction of the timing.
  std::function<void(std::string_view what, double done)> progress;
  /// True ends the bench early; the result has what was measured.
  std::function<bool()> stopped;
};

BenchResult run_bench(const BenchRequest& request);

}  // namespace rung
