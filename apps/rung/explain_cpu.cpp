#include "explain_cpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "core/dtype.hpp"
#include "cpu_counts.hpp"
#include "device/cpu/machine.hpp"
#include "explain_head.hpp"
#include "tools/measure/ceilings.hpp"
#include "tools/report/table.hpp"

namespace rung {
namespace {

/// Each operand once, and the result once.
struct Work {
  double flops, bytes;
};

Work work_of(const RungInfo& rung, Dtype dtype, const SizeArgument& size) {
  const auto in = static_cast<double>(input_bytes(dtype));
  const auto out = static_cast<double>(output_bytes(dtype));
  const auto m = static_cast<double>(size.m), n = static_cast<double>(size.n),
             k = static_cast<double>(size.k);
  if (rung.op == "gemm") return {2 * m * n * k, in * (m * k + k * n) + out * m * n};
  return {2 * n, 2 * in * n};
}

double rate(const std::vector<Ceiling>& ceilings, std::string_view name) {
  for (const Ceiling& ceiling : ceilings) {
    if (ceiling.name == name) return ceiling.all_threads * 1e9;
  }
  return 0;
}

/// The cache that can hold the operands serves them, or memory if none can.
std::string level_of(double bytes, const Ceilings& ceilings) {
  const cpu::Machine& machine = cpu::machine();
  const double l2 = static_cast<double>(machine.caches.l2) * cpu::available_threads();
  const bool has_l3 = rate(ceilings.read, "L3") > 0;
  if (bytes <= l2) return "L2";
  return has_l3 && bytes <= static_cast<double>(machine.caches.l3) ? "L3" : "DRAM";
}

}  // namespace

ExitCode explain_on_cpu(const RungInfo& rung, Dtype dtype, const SizeArgument& size,
                        const CpuExplainOptions& options) {
  const auto& [results, output, counts] = options;
  const Work work = work_of(rung, dtype, size);
  const Ceilings ceilings = cached_ceilings(false);
  const std::string level = level_of(work.bytes, ceilings);
  const double computing = work.flops / rate(ceilings.multiply_add, name(ceiling_type(dtype)));
  const double reading = work.bytes / rate(ceilings.read, level);
  const double least = std::max(computing, reading);
  const bool is_gemm = rung.op == "gemm";
  const analysis::MeasuredRun* run =
      results.find(rung.id, dtype, is_gemm ? size.m : 1, size.n, is_gemm ? size.k : 1, "cpu");
  std::FILE* out = output && output->is_stdout() ? stderr : stdout;
  print_head(out, rung);
  Table table({"at the least", "moves", "FLOP/byte", "takes"});
  table.add_row({"multiply-adds", "", "", format_seconds(computing)});
  table.add_row({level, fmt::format("{:.3g} GB", work.bytes * 1e-9),
                 fmt::format("{:.4g}", work.flops / work.bytes), format_seconds(reading)});
  fmt::print(out, "{}\n{}",
             wrap(fmt::format("{} on cpu {}, all {} threads; operands once, the result once",
                              name(dtype), cpu::model(), cpu::available_threads()),
                  0),
             table.str());
  fmt::print(out, "the bound: {}, {}\n", computing >= reading ? "multiply-adds" : level,
             format_seconds(least));
  if (run != nullptr) {
    fmt::print(out, "{}",
               wrap(fmt::format("measured: {}, {:.2f} of which the bound explains ({})",
                                format_seconds(run->seconds), least / run->seconds, run->source),
                    0));
  }
  std::string why_not = "not asked for";
  const auto counted = counts ? count_call(rung, dtype, size, why_not) : std::nullopt;
  fmt::print(out, "\n{}",
             counted ? counted->text(rung) : wrap("cache misses and instructions: " + why_not, 0));
  if (output) {
    Json json = explanation_head(rung, dtype, size, "cpu " + cpu::model());
    json["roofline"] = {{"flops", work.flops},
                        {"levels",
                         {{{"name", "multiply-adds"}, {"bytes", 0}, {"seconds", computing}},
                          {{"name", level}, {"bytes", work.bytes}, {"seconds", reading}}}},
                        {"bound", computing >= reading ? "multiply-adds" : level},
                        {"seconds", least},
                        {"measured_seconds", run != nullptr ? Json(run->seconds) : Json(nullptr)}};
    json["counted"] = counted ? counted->json() : Json(nullptr);
    output->write(dump(json));
  }
  return exit_right;
}

}  // namespace rung
