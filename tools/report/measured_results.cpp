#include "tools/report/measured_results.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "core/dtype.hpp"
#include "tools/report/json.hpp"

namespace rung {
namespace {

std::optional<MeasuredErrors> errors_of(const std::optional<ElementErrors>& errors) {
  if (!errors) return std::nullopt;
  return MeasuredErrors{finite(errors->largest), finite(errors->normwise)};
}

PeerResult peer_of(const Comparison& comparison) {
  PeerResult peer;
  peer.name = comparison.peer;
  if (!(comparison.ratio > 0)) return peer;
  peer.seconds = comparison.seconds;
  peer.ratio = comparison.ratio;
  peer.errors = errors_of(comparison.errors);
  if (comparison.graph_ratio > 0) peer.graph_ratio = comparison.graph_ratio;
  return peer;
}

ProblemForm form_of(const WorkloadOptions& options) {
  ProblemForm form;
  form.batch = options.batch;
  form.groups = options.groups;
  if (options.groups != 0) form.skew = options.zipf ? "zipf" : "none";
  if (options.epilogue != EpilogueParts{}) form.epilogue = name(options.epilogue);
  if (options.block_scales) form.scales = "block";
  if (options.weight_bits > 0) form.weights = "int" + std::to_string(options.weight_bits);
  return form;
}

void set_problem(Result& result, const BenchResult& bench) {
  const WorkloadOptions& options = bench.options;
  result.op = bench.op;
  result.dtype = name(options.dtype);
  result.device = bench.device;
  result.operands = options.cold ? "cold" : "warm";
  result.threads = options.threads;
  result.n = bench.size.n;
  if (bench.op != "gemm") return;
  result.m = bench.size.m;
  result.k = bench.size.k;
  result.layout = {options.a_transposed ? 't' : 'n', options.b_transposed ? 't' : 'n'};
  result.family = name(options.family);
  result.alpha = options.alpha;
  result.beta = options.beta;
  result.form = form_of(options);
}

void set_times(Result& result, const BenchResult& bench, const BenchRow& row) {
  result.seconds = row.seconds.median;
  result.q1 = row.seconds.q1;
  result.q3 = row.seconds.q3;
  result.samples = row.seconds.count;
  if (row.graph_seconds.count > 0) result.graph_seconds = row.graph_seconds.median;
  result.gflops = bench.flops / row.seconds.median * 1e-9;
  result.gbps = bench.bytes / row.seconds.median * 1e-9;
  if (bench.ceiling.empty()) return;
  result.ceiling = bench.ceiling;
  result.ceiling_rate = bench.ceiling_rate * 1e-9;
  result.ceiling_ratio = row.ceiling_ratio;
}

Result result_of(const BenchResult& bench, const BenchRow& row) {
  Result result;
  result.rung = row.name;
  result.chose = row.chose;
  set_problem(result, bench);
  if (bench.op == "gemm") result.math = name(row.compute_mode);
  if (row.timed()) set_times(result, bench, row);
  result.previous = row.previous;
  if (!row.previous.empty()) result.previous_ratio = row.previous_ratio;
  for (const Comparison& comparison : row.peers) result.peers.push_back(peer_of(comparison));
  result.errors = errors_of(row.errors);
  result.verified = row.skipped.empty() && row.verdict.right;
  result.skipped = row.skipped;
  if (row.wrong()) result.wrong = row.verdict.message;
  return result;
}

}  // namespace

Results results_of(const std::vector<BenchResult>& measured, const Json& machine,
                   Results::Forms forms) {
  Results results;
  results.sources.push_back({"this run", std::make_shared<const Json>(machine)});
  for (const BenchResult& bench : measured) {
    for (const BenchRow& row : bench.rows) {
      if (row.kind == Kind::peer) continue;
      Result result = result_of(bench, row);
      if (forms == Results::Forms::single_products && !result.form.is_plain()) continue;
      results.entries.push_back(std::move(result));
    }
  }
  return results;
}

}  // namespace rung
