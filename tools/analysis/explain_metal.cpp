#include "tools/analysis/explain_metal.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/dtype.hpp"
#include "tools/analysis/metal_setting.hpp"

namespace rung::analysis {
namespace {

double product(std::int64_t a, std::int64_t b) {
  return static_cast<double>(a) * static_cast<double>(b);
}

Evidence evidence_of(const MetalSetting& setting, const Samples& samples, const Results& results) {
  const auto& [m, n, k] = setting.size;
  const vgpu::ptx::Module& text = parsed(setting.image->ptx, setting.image->id);
  const metal::Size3 groups = setting.launch().threadgroups;
  const auto in = static_cast<double>(input_bytes(setting.dtype));
  const auto out = static_cast<double>(output_bytes(setting.dtype));
  Evidence evidence;
  evidence.id = setting.info->id;
  evidence.sample = samples.trace2;
  evidence.blocks = static_cast<double>(groups.count());
  evidence.quantities = samples.at(static_cast<double>(k)) * evidence.blocks;
  evidence.quantities.multiply_adds = product(m, n) * static_cast<double>(k);
  evidence.overlap = overlap(evidence.sample, text);
  const bool by_matrix_units = samples.trace2.matrix_units.instructions > 0;
  evidence.machine = machine_of(setting.device, setting.dtype, by_matrix_units, results);
  evidence.footprint.register_bytes = 4 * out;
  evidence.footprint.dram_bytes = in * (product(m, k) + product(k, n)) + out * product(m, n);
  evidence.has_async_copies = false;  // no published figures
  evidence.matrix_units_idle = setting.dtype != Dtype::i32 && !by_matrix_units;
  evidence.multiple = setting.rung->multiple;
  evidence.roofline =
      roofline(evidence.machine, evidence.quantities, evidence.footprint, evidence.blocks);
  return evidence;
}

}  // namespace

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

Explanation explain_metal_gemm(const RungInfo& rung, Dtype dtype, const cuda::GemmSize& size,
                               const ExplainOptions& options) {
  Results results = built_in_results();
  results.add(options.results);
  const auto examine = [&](const RungInfo& other) {
    const MetalSetting setting = metal_setting(other, dtype, size, options.device, options.code);
    return evidence_of(setting, sample(setting), results);
  };
  const MetalSetting setting = metal_setting(rung, dtype, size, options.device, options.code);
  const Samples samples = sample(setting);
  Explanation explanation;
  explanation.evidence = evidence_of(setting, samples, results);
  explanation.code = fmt::format("PTX by clang {}", metal::clang_version());
  const metal::Tiling& tiling = setting.rung->tiling;
  explanation.sample = describe_tile("a tile", std::min<std::int64_t>(size.m, tiling.BM),
                                     std::min<std::int64_t>(size.n, tiling.BN), samples);
  explanation.traffic = traffic_rows(gemm_traffic(tiling), samples);
  explanation.ptx = ptx_mix(samples.trace2, parsed(setting.image->ptx, setting.image->id));
  explanation.advice = advise(explanation.evidence, "gemm/metal", &rung, examine);
  explanation.reference = reference_of(rung.id, dtype, options.device);
  add_published_facts(explanation, options.device);
  if (const MeasuredRun* run =
          results.find(rung.id, dtype, size.m, size.n, size.k, options.device.name)) {
    explanation.measured = *run;
  }
  return explanation;
}

}  // namespace rung::analysis
