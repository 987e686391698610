#include "tools/analysis/explanation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "backends/cuda/images.hpp"
#include "core/dtype_traits.hpp"
#include "tools/analysis/explain_metal.hpp"
#include "tools/analysis/predicted_call.hpp"
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

OccupancyFacts occupancy_facts(std::string_view ptx, const KernelTrace& sample,
                               std::int64_t dynamic_shared, const vgpu::DeviceDescription& device) {
  OccupancyFacts facts;
  facts.registers = registers_of(ptx, sample.kernel, device);
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

Examine examine_gemm(Dtype dtype, const cuda::GemmSize& size, const ExplainOptions& options,
                     const Results& results) {
  return [=, &options, &results](const RungInfo& rung) {
    const GemmSetting setting = gemm_setting(rung, dtype, size, options.device, options.code);
    return gemm_evidence(setting, sample(setting), results);
  };
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

/// Adds the local accesses of the machine code: spilled registers, and the part of the arrays of PTX
/// that ptxas does not keep in registers.
void add_local_code(diagnosis::Facts& facts, const Registers& registers,
                    const vgpu::ptx::Function& kernel) {
  const vgpu::Counters& c = facts.trace.counters;
  const auto arrays = static_cast<double>(c.local_load_requests + c.local_store_requests);
  std::int64_t array_bytes = 0;
  for (const vgpu::ptx::Variable& variable : kernel.variables) {
    if (variable.space == vgpu::ptx::Space::local) array_bytes += variable.bytes();
  }
  facts.spills.frame = registers.frame_bytes > 0 ? registers.frame_bytes : array_bytes;
  if (!registers.code) return;
  const Spills executed = executed_spills(*registers.code, facts.trace, facts.text);
  if (registers.spilled_bytes > 0) {
    const double share = std::max(0.0, 1 - arrays / std::max(1.0, executed.all()));
    facts.spills.loads = share * executed.loads;
    facts.spills.stores = share * executed.stores;
  } else if (arrays > 0 && local_words(*registers.code) == 0) {
    facts.local_share = 0;
  }
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
  Explanation explanation;
  explanation.evidence = gemm_evidence(setting, samples, results);
  explanation.code = cuda::describe(*setting.image);
  explanation.sample = describe_sample(setting, samples);
  explanation.tiles = describe_tiles(setting, samples.trace2.matrix_units);
  explanation.traffic = gemm_rows(setting, samples);
  explanation.occupancy =
      occupancy_facts(setting.ptx(), samples.trace2, setting.launch().shared_bytes, options.device);
  explanation.predicted = predicted_gemm(setting, samples, explanation.occupancy.occupancy,
                                         explanation.evidence.machine, options);
  explanation.ptx = ptx_mix(samples.trace2, parsed(setting));
  explanation.machine_code = machine_mix(setting.ptx(), setting.entry(), options.device.arch());
  explanation.advice =
      advise(explanation.evidence, "gemm/cuda", &rung, examine_gemm(dtype, size, options, results));
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
  if (rung.backend == "metal") {
    add_published_facts(explanation, options.device);
  } else {
    explanation.occupancy = occupancy_facts(call.ptx, longest, 0, options.device);
    explanation.machine_code = machine_mix(call.ptx, longest.kernel, options.device.arch());
    explanation.predicted = predicted_call(rung, dtype, n, explanation.evidence.machine, options);
    if (!explanation.predicted) {
      const std::string known = why_not_predicted(rung);
      explanation.why_not_predicted = known.empty() ? "the number of launches depends on n" : known;
    }
  }
  const auto examine = [&](const RungInfo& other) {
    return sample_vectors(other, dtype, n, {options.gpu, options.code}, results).evidence;
  };
  explanation.advice =
      advise(explanation.evidence, fmt::format("{}/{}", rung.op, rung.backend), &rung, examine);
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
  explanation.evidence =
      kernel_evidence(name, traces, text, options.device, dtype, footprint, results);
  const KernelTrace& sample = explanation.evidence.sample;
  explanation.code = std::string("PTX by clang");
  explanation.sample =
      fmt::format("{} launch{}", launches.size(), launches.size() == 1 ? "" : "es");
  const vgpu::ptx::Function* kernel = text.find(sample.kernel);
  std::int64_t static_shared = 0;
  for (const vgpu::ptx::Variable& variable : kernel->variables) {
    if (variable.space == vgpu::ptx::Space::shared) static_shared += variable.bytes();
  }
  explanation.occupancy = occupancy_facts(
      ptx, sample, std::max<std::int64_t>(0, sample.shared - static_shared), options.device);
  explanation.ptx = ptx_mix(sample, text);
  explanation.machine_code = machine_mix(ptx, sample.kernel, options.device.arch());
  const auto longest =
      std::max_element(launches.begin(), launches.end(), [](const auto& a, const auto& b) {
        return a.trace.counters.instructions < b.trace.counters.instructions;
      });
  const InstructionsByLine instructions = by_line(text);
  const std::function<bool(int)> spills_with = [&](int registers) {
    return spills_if_limited(ptx, sample.kernel, options.device.arch(), registers);
  };
  diagnosis::Facts facts{longest->trace,
                         text,
                         instructions,
                         longest->footprint,
                         options.device,
                         explanation.evidence.machine,
                         explanation.occupancy.occupancy,
                         std::nullopt,
                         options.launch_seconds};
  facts.launches = static_cast<double>(launches.size());
  facts.spills_with = &spills_with;
  add_local_code(facts, explanation.occupancy.registers, *kernel);
  explanation.diagnosis = diagnosis::diagnose(facts);
  explanation.occupancy.achieved = achieved_occupancy(facts);
  never_above_busy(explanation.evidence.roofline, *explanation.diagnosis, launches.size());
  return explanation;
}

}  // namespace rung::analysis
