#include "tools/analysis/explanation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "backends/cuda/images.hpp"
#include "core/dtype_traits.hpp"
#include "tools/analysis/call_diagnosis.hpp"
#include "tools/analysis/explain_metal.hpp"
#include "tools/analysis/remedies.hpp"
#include "tools/analysis/traced_launch.hpp"
#include "tools/analysis/vector_sample.hpp"
#include "vgpu/ptx/parser.hpp"

namespace rung::analysis {
namespace {

std::string describe_sample(const GemmSetting& setting, const Samples& samples) {
  const auto [m, n] = setting.sample();
  return describe_tile(setting.launch().cluster > 1 ? "a cluster's tiles" : "a tile", m, n,
                       samples);
}

/// Describes the partition of C, from the rung's descriptor.
std::string describe_tiles(const GemmSetting& setting, const MatrixUnits& units) {
  const cuda::Tiling tiling = setting.tiling();
  const cuda::Launch launch = setting.launch();
  std::string text =
      fmt::format("{}x{} of C per block of {} threads", tiling.BM, tiling.BN, launch.block.count());
  const auto add = [&](bool has, const std::string& part) {
    if (has) text += ", " + part;
  };
  add(tiling.WM > 0, fmt::format("{}x{} per warp", tiling.WM, tiling.WN));
  add(units.wgmma_rows > 0, fmt::format("{}x{} per wgmma", units.wgmma_rows, units.wgmma_columns));
  add(tiling.TM * tiling.TN > 1, fmt::format("{}x{} per thread", tiling.TM, tiling.TN));
  add(tiling.BK > 0, fmt::format("k-blocks of {}", tiling.BK));
  add(launch.cluster > 1, fmt::format("clusters of {} blocks", launch.cluster));
  add(setting.config.splits > 1, fmt::format("{} splits of k", setting.config.splits));
  return text;
}

OccupancyFacts occupancy_facts(const Registers& registers, const KernelTrace& sample,
                               std::int64_t dynamic_shared, const vgpu::DeviceDescription& device) {
  OccupancyFacts facts;
  facts.registers = registers;
  facts.dynamic_shared = dynamic_shared;
  facts.static_shared = sample.shared - dynamic_shared;
  facts.threads = static_cast<int>(sample.block.count());
  facts.occupancy = occupancy_of(device, facts.registers.count, facts.threads, facts.static_shared,
                                 facts.dynamic_shared);
  return facts;
}

Results all_results(const ExplainOptions& options) {
  Results all = built_in_results();
  all.add(options.results);
  return all;
}

/// The diagnosis of another rung for the same problem.
diagnosis::Diagnosis diagnosed_gemm(const RungInfo& rung, Dtype dtype, const cuda::GemmSize& size,
                                    const Results& results, const ExplainOptions& options) {
  const GemmSetting setting = gemm_setting(rung, dtype, size, options.device, options.code);
  const Samples samples = sample(setting);
  const bool by_tensor_cores = samples.trace2.matrix_units.instructions > 0;
  return diagnosed_gemm(setting, samples,
                        registers_of(setting.ptx(), samples.trace2.kernel, options.device),
                        machine_of(options.device, dtype, by_tensor_cores, results), options);
}

Dtype dtype_of(const vgpu::ptx::Module& text, const KernelTrace& trace) {
  const InstructionsByLine instructions = by_line(text);
  bool integers = true;
  for (const SiteCount& site : trace.sites) {
    const vgpu::ptx::Instruction& instruction = *instructions.at(site.ptx_line);
    if (!is_multiply_add(instruction, false)) continue;
    if (instruction.has("f64")) return Dtype::f64;
    integers = false;
  }
  return integers && trace.multiply_adds > 0 ? Dtype::i32 : Dtype::f32;
}

/// Why a call of a rung on vectors is not predicted as a whole; empty if it is.
std::string why_not_predicted(const CallTrace& call, bool is_diagnosed) {
  if (!is_diagnosed) return "the number of launches depends on n";
  return call.host_values > 0 ? "the CPU adds up what the kernel leaves" : "";
}

/// The mean share of the device's warps that have work: theoretical occupancy, if the grid has
/// blocks for all of them.
double achieved_occupancy(const diagnosis::Facts& facts) {
  const double resident =
      std::min<double>(facts.occupancy.blocks, facts.blocks() / facts.machine.multiprocessors);
  return resident * facts.warps_of_block() / facts.device.max_warps_per_multiprocessor;
}

/// The roofline counts each instruction of PTX; the diagnosis knows which ptxas merges.
void never_above_busy(Roofline& roofs, const diagnosis::Diagnosis& diagnosis,
                      std::size_t launches) {
  if (launches != 1) return;
  for (Level& level : roofs.levels) {
    for (const diagnosis::Part& part : diagnosis.time.parts) {
      const bool same =
          part.name == level.name || (part.name == "issue" && level.name.starts_with("issue"));
      if (same) level.seconds = std::min(level.seconds, part.seconds);
    }
  }
}

}  // namespace

std::string describe_tile(std::string_view what, std::int64_t rows, std::int64_t columns,
                          const Samples& samples) {
  const std::string tile = fmt::format("{} of {}x{}", what, rows, columns);
  if (samples.k1 == samples.k2) return tile;
  return fmt::format("{}, at k = {:.0f} and {:.0f}", tile, samples.k1, samples.k2);
}

Explanation explain_gemm(const RungInfo& rung, Dtype dtype, const cuda::GemmSize& size,
                         const ExplainOptions& options) {
  if (rung.backend == "metal") return explain_metal_gemm(rung, dtype, size, options);
  const Results results = all_results(options);
  const GemmSetting setting = gemm_setting(rung, dtype, size, options.device, options.code);
  const Samples samples = sample(setting);
  const Registers registers = registers_of(setting.ptx(), samples.trace2.kernel, options.device);
  Explanation explanation;
  explanation.evidence = gemm_evidence(setting, samples, results);
  explanation.code = cuda::describe(*setting.image);
  explanation.sample = describe_sample(setting, samples);
  explanation.tiles = describe_tiles(setting, samples.trace2.matrix_units);
  explanation.traffic = gemm_rows(setting, samples);
  explanation.occupancy =
      occupancy_facts(registers, samples.trace2, setting.launch().shared_bytes, options.device);
  explanation.errors = diagnosis::errors_of_rungs;
  explanation.diagnosis =
      diagnosed_gemm(setting, samples, registers, explanation.evidence.machine, options);
  cite_rungs(*explanation.diagnosis, rung, [&](const RungInfo& other) {
    return diagnosed_gemm(other, dtype, size, results, options);
  });
  explanation.ptx = ptx_mix(samples.trace2, parsed(setting));
  explanation.machine_code = machine_mix(setting.ptx(), setting.entry(), options.device.arch());
  if (const MeasuredRun* run =
          results.find(rung.id, dtype, size.m, size.n, size.k, options.device.name)) {
    explanation.measured = *run;
  }
  return explanation;
}

Explanation explain_vectors(const RungInfo& rung, Dtype dtype, std::int64_t n,
                            const ExplainOptions& options) {
  const Results results = all_results(options);
  const VectorSample sample = sample_vectors(rung, dtype, n, {options.gpu, options.code}, results);
  const KernelTrace& longest = sample.evidence.sample;
  const CallTrace& call = sample.call;
  Explanation explanation;
  explanation.evidence = sample.evidence;
  explanation.code = call.code;
  explanation.sample = fmt::format("{} element{}, {} launch{}", sample.n, sample.n == 1 ? "" : "s",
                                   call.launches.size(), call.launches.size() == 1 ? "" : "es");
  explanation.result = std::string("x");
  explanation.traffic = vector_rows(sample.evidence.quantities, rung.op == "sum" ? 1 : 2, dtype,
                                    static_cast<double>(n));
  explanation.ptx = ptx_mix(longest, parsed(call.ptx, call.id));
  const auto diagnose = [&](const RungInfo& of) {
    return diagnosed_call(of, dtype, n, explanation.evidence.machine, options);
  };
  explanation.errors = diagnosis::errors_of_rungs;
  explanation.diagnosis = diagnose(rung);
  explanation.why_not_predicted = why_not_predicted(call, explanation.diagnosis.has_value());
  if (explanation.diagnosis) cite_rungs(*explanation.diagnosis, rung, diagnose);
  if (rung.backend == "metal") {
    put_in_metal(explanation, options.device);
  } else {
    explanation.occupancy = occupancy_facts(registers_of(call.ptx, longest.kernel, options.device),
                                            longest, 0, options.device);
    explanation.machine_code = machine_mix(call.ptx, longest.kernel, options.device.arch());
  }
  if (const MeasuredRun* run = results.find(rung.id, dtype, 1, n, 1, options.device.name)) {
    explanation.measured = *run;
  }
  return explanation;
}

Explanation explain_kernel(const std::string& name, const std::vector<KernelLaunch>& launches,
                           std::string_view ptx, const ExplainOptions& options) {
  const Results results = all_results(options);
  const vgpu::ptx::Module text = vgpu::ptx::parse(ptx, name);
  std::vector<KernelTrace> traces;
  Footprint footprint;
  for (const auto& [trace, accesses] : launches) {
    traces.push_back(trace);
    const auto bytes = [](std::uint64_t sectors) { return 32 * static_cast<double>(sectors); };
    footprint.l2_bytes += bytes(accesses.loaded_sectors_by_block + accesses.store_sectors);
    footprint.dram_bytes += bytes(accesses.loaded_sectors + accesses.stored_sectors);
  }
  const Dtype dtype = dtype_of(text, traces.front());
  Explanation explanation;
  explanation.evidence = kernel_evidence(name, traces, options.device, dtype, footprint, results);
  const KernelTrace& sample = explanation.evidence.sample;
  explanation.code = ptx.find("NVIDIA NVVM Compiler") == ptx.npos ? "PTX by clang" : "PTX by nvcc";
  explanation.sample =
      fmt::format("{} launch{}", launches.size(), launches.size() == 1 ? "" : "es");
  const vgpu::ptx::Function* kernel = text.find(sample.kernel);
  std::int64_t static_shared = 0;
  for (const vgpu::ptx::Variable& variable : kernel->variables) {
    if (variable.space == vgpu::ptx::Space::shared) static_shared += variable.bytes();
  }
  explanation.occupancy =
      occupancy_facts(registers_of(ptx, sample.kernel, options.device), sample,
                      std::max<std::int64_t>(0, sample.shared - static_shared), options.device);
  explanation.ptx = ptx_mix(sample, text);
  explanation.machine_code = machine_mix(ptx, sample.kernel, options.device.arch());
  const auto longest =
      std::max_element(launches.begin(), launches.end(), [](const auto& a, const auto& b) {
        return a.trace.counters.instructions < b.trace.counters.instructions;
      });
  TracedLaunch launch(longest->trace, ptx, text, explanation.occupancy.registers, options.device);
  launch.trace.footprint = longest->footprint;
  diagnosis::Facts facts = launch.facts(explanation.evidence.machine, options.launch_seconds);
  facts.launches = static_cast<double>(launches.size());
  explanation.diagnosis = diagnosis::diagnose({&facts, 1});
  explanation.occupancy.achieved = achieved_occupancy(facts);
  never_above_busy(explanation.evidence.roofline, *explanation.diagnosis, launches.size());
  return explanation;
}

}  // namespace rung::analysis
