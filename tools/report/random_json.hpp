#pragma once
// The results of `rung bench --random` as JSON, in either form (tools/analysis/bench_file.hpp).

#include <cstdint>
#include <string>
#include <vector>

#include "tools/measure/random/random_bench.hpp"
#include "tools/report/json.hpp"

namespace rung {

/// "128x256x64, 2 splits"; without a tile for rungs that have no tiles.
std::string describe_plan(std::string_view rung, Dtype dtype, const cuda::GemmConfig& config);

/// The results so far, each as one line of the file, so that a long run can write it often.
class RandomJson {
 public:
  enum class Form : std::uint8_t { document, lines };

  /// `machine`: as of any bench. `command`: the command line; empty if unknown.
  RandomJson(Json machine, const RandomRequest& request, std::string device,
             Form form = Form::document, const std::string& command = "");

  void add(const RandomResult& result);

  /// {"machine", "command", "results": [], "random": {"seed", "count", "max_size", "max_bytes", "max_seconds",
  /// "device", "dtypes", "layouts", "rungs", "complete", "draws": [{"dtype", "layout", "m", "n",
  /// "k", "flops", "bytes", "verified", "rung", "tile", "splits", "plan", "seconds", "peers":
  /// {"cublas": {"seconds", "ratio"}, …}, "ratio", "regret", "best": {"rung", "tile", "splits",
  /// "plan", "seconds"}}, …], "plans": [{"dtype", "layout", "m", "n", "k", "rung", "tile",
  /// "splits", "plan", "seconds", "finalist", "chosen", "refused", "wrong"}, …]}}
  /// On the CPU, rungs have no tile, splits and plan, and the run and each draw have "threads".
  std::string text(bool is_complete) const;

 private:
  std::string document(const Json& run) const;
  std::string lines(const Json& run) const;

  Json head_, run_;
  Form form_;
  std::vector<std::string> draws_, plans_;
};

}  // namespace rung
