#include "tools/analysis/explain_metal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "core/dtype.hpp"
#include "core/rung.hpp"
#include "tools/analysis/call_diagnosis.hpp"
#include "tools/analysis/metal_setting.hpp"
#include "tools/analysis/remedies.hpp"

namespace rung::analysis {
namespace {

double product(std::int64_t a, std::int64_t b) {
  return static_cast<double>(a) * static_cast<double>(b);
}

Evidence evidence_of(const MetalSetting& setting, const Samples& samples, const Machine& machine) {
  const auto& [m, n, k] = setting.size;
  const auto in = static_cast<double>(input_bytes(setting.dtype));
  const auto out = static_cast<double>(output_bytes(setting.dtype));
  Evidence evidence;
  evidence.id = setting.info->id;
  evidence.sample = samples.trace2;
  evidence.blocks = static_cast<double>(setting.launch().threadgroups.count());
  evidence.quantities = samples.at(static_cast<double>(k)) * evidence.blocks;
  evidence.quantities.multiply_adds = product(m, n) * static_cast<double>(k);
  evidence.machine = machine;
  evidence.footprint.register_bytes = 4 * out;
  evidence.footprint.dram_bytes = in * (product(m, k) + product(k, n)) + out * product(m, n);
  evidence.roofline =
      roofline(evidence.machine, evidence.quantities, evidence.footprint, evidence.blocks);
  return evidence;
}

/// A rung with what its diagnosis takes.
struct SampledRung {
  MetalSetting setting;
  Samples samples;
  Machine machine;

  diagnosis::Diagnosis diagnosed(const ExplainOptions& options) const {
    const std::string& kernel = samples.trace2.kernel;
    return diagnosed_gemm(setting, samples,
                          registers_of(setting.image->ptx, kernel, setting.device), machine,
                          options);
  }
};

SampledRung sampled_rung(const RungInfo& rung, Dtype dtype, const cuda::GemmSize& size,
                         const ExplainOptions& options, const Results& results) {
  const MetalSetting setting = metal_setting(rung, dtype, size, options.device, options.code);
  Samples samples = sample(setting);
  const bool by_matrix_units = samples.trace2.matrix_units.instructions > 0;
  return {setting, std::move(samples), machine_of(options.device, dtype, by_matrix_units, results)};
}

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != text.npos; at += by.size()) {
    text.replace(at, what.size(), by);
  }
}

/// A finding in Metal's words, with the Metal rung of the same idea if one exists.
void put_in_metal(diagnosis::Finding& finding) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 15> words = {
      {{"__syncthreads()", "threadgroup_barrier(mem_flags::mem_threadgroup)"},
       {"__shared__", "threadgroup"},
       {"threadIdx.", "thread_in_group."},
       {"blockIdx.", "group."},
       {"shared memory", "threadgroup memory"},
       {"shared load", "threadgroup load"},
       {"global memory", "device memory"},
       {"a block", "a threadgroup"},
       {"the block", "the threadgroup"},
       {"blocks", "threadgroups"},
       {"1 block ", "1 threadgroup "},
       {"a warp", "a simdgroup"},
       {"the warp", "the simdgroup"},
       {"warps", "simdgroups"},
       {"SMs", "cores"}}};
  for (std::string* text :
       {&finding.name, &finding.detail, &finding.remedy, &finding.code, &finding.idea}) {
    for (const auto& [cuda, metal] : words) replace_all(*text, cuda, metal);
  }
  if (finding.rung.find("/metal/") != std::string::npos) return;
  const std::string idea =
      finding.rung.substr(std::min(finding.rung.find('_'), finding.rung.size()));
  for (const RungInfo& rung : catalog()) {
    if (idea.empty() || rung.backend != "metal" || !rung.slug.ends_with(idea)) continue;
    finding.rung = rung.id;
    finding.idea = rung.idea;
    return;
  }
}

/// Adds what the explanation's sample determines: the resources of a threadgroup, and notes about
/// sources of figures and units of counters.
void add_published_facts(Explanation& explanation, const vgpu::DeviceDescription& device) {
  const KernelTrace& sample = explanation.evidence.sample;
  OccupancyFacts& facts = explanation.occupancy;
  facts.is_public = false;
  facts.registers.source = std::string("not public");
  facts.static_shared = sample.shared;
  facts.threads = static_cast<int>(sample.block.count());
  facts.max_threads = device.max_threads_per_block;
  facts.max_shared = device.shared_per_block;
  explanation.notes = {
      "public: the 16 cores and 200 GB/s of an M1 Pro, 32 KiB of threadgroup memory and 1024 "
      "threads of a threadgroup (Apple). Not from Apple: 256 FLOP of a core and clock, and the "
      "clock, which agree with the 5.2 TFLOP/s that it names; the same rate is taken for all "
      "types. Not public: registers, occupancy, rates of caches and of threadgroup memory.",
      "counters are in NVIDIA's units and words: shared memory is threadgroup memory, global "
      "memory device memory, a block a threadgroup, a warp a simdgroup, a multiprocessor a core. "
      "Causes are found with an NVIDIA multiprocessor's rates, banks and latencies in the place "
      "of those that are not public."};
}

}  // namespace

void put_in_metal(Explanation& explanation, const vgpu::DeviceDescription& device) {
  add_published_facts(explanation, device);
  if (!explanation.diagnosis) return;
  for (diagnosis::Finding& finding : explanation.diagnosis->findings) put_in_metal(finding);
}

Explanation explain_metal_gemm(const RungInfo& rung, Dtype dtype, const cuda::GemmSize& size,
                               const ExplainOptions& options) {
  Results results = built_in_results();
  results.add(options.results);
  const SampledRung sampled = sampled_rung(rung, dtype, size, options, results);
  const MetalSetting& setting = sampled.setting;
  const Samples& samples = sampled.samples;
  Explanation explanation;
  explanation.evidence = evidence_of(setting, samples, sampled.machine);
  explanation.code = fmt::format("PTX by clang {}", metal::clang_version());
  const metal::Tiling& tiling = setting.rung->tiling;
  explanation.sample = describe_tile("a tile", std::min<std::int64_t>(size.m, tiling.BM),
                                     std::min<std::int64_t>(size.n, tiling.BN), samples);
  explanation.traffic = traffic_rows(gemm_traffic(tiling), samples);
  explanation.ptx = ptx_mix(samples.trace2, parsed(setting.image->ptx, setting.image->id));
  explanation.reference = reference_of(rung.id, dtype, options.device);
  explanation.errors = diagnosis::errors_of_rungs;
  explanation.diagnosis = sampled.diagnosed(options);
  cite_rungs(*explanation.diagnosis, rung, [&](const RungInfo& other) {
    return sampled_rung(other, dtype, size, options, results).diagnosed(options);
  });
  put_in_metal(explanation, options.device);
  if (const MeasuredRun* run =
          results.find(rung.id, dtype, size.m, size.n, size.k, options.device.name)) {
    explanation.measured = *run;
  }
  return explanation;
}

}  // namespace rung::analysis
