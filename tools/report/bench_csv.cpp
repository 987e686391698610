#include "tools/report/bench_csv.hpp"

#include <fmt/format.h>

#include "core/compute_mode.hpp"
#include "core/dtype.hpp"

namespace rung {
namespace {

/// A quoted field, because names of devices contain commas.
std::string quoted(const std::string& text) {
  std::string field = "\"";
  for (const char c : text) field += c == '"' ? "\"\"" : std::string(1, c);
  return field + "\"";
}

std::string problem_fields(const BenchResult& result) {
  const WorkloadOptions& options = result.options;
  const auto& [m, n, k] = result.size;
  const std::string layout = {options.a_transposed ? 't' : 'n', options.b_transposed ? 't' : 'n'};
  const bool is_gemm = result.op == "gemm";
  const std::string extents =
      is_gemm ? fmt::format("{},{},{},{}", m, n, k, layout) : fmt::format(",{},,", n);
  return fmt::format("{},{},{},{},{}", quoted(result.device), result.op, name(options.dtype),
                     extents, is_gemm ? name(options.family) : "");
}

std::string error_fields(const BenchRow& row) {
  if (!row.errors) return ",";
  return fmt::format("{:.4g},{:.4g}", row.errors->largest, row.errors->normwise);
}

}  // namespace

std::string bench_csv(const std::vector<BenchResult>& results) {
  std::string csv =
      "device,op,dtype,m,n,k,layout,family,contender,math,seconds,gflops,largest_error,"
      "normwise_error\n";
  for (const BenchResult& result : results) {
    for (const BenchRow& row : result.rows) {
      if (!row.timed()) continue;
      csv += fmt::format("{},{},{},{:.6g},{:.6g},{}\n", problem_fields(result), row.name,
                         result.op == "gemm" ? name(row.compute_mode) : "", row.seconds.median,
                         result.flops / row.seconds.median * 1e-9, error_fields(row));
    }
  }
  return csv;
}

}  // namespace rung
