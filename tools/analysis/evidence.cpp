#include "tools/analysis/evidence.hpp"

#include <algorithm>
#include <cmath>

#include "core/dtype.hpp"
#include "core/integers.hpp"

namespace rung::analysis {
namespace {

double area(std::int64_t a, std::int64_t b) {
  return static_cast<double>(a) * static_cast<double>(b);
}

/// The ratio of the problem's size to the sample's.
double samples_of(const GemmSetting& setting) {
  const GemmSetting::Extent extent = setting.sample();
  return area(ceil_div(setting.size.m, extent.rows), ceil_div(setting.size.n, extent.columns));
}

/// A multiply-add reads three operands and writes one. Each block or cluster loads operands shared
/// by its threads once; all blocks together load each element at least once.
Footprint footprint_of(const GemmSetting& setting) {
  const auto& [m, n, k] = setting.size;
  const auto in = static_cast<double>(input_bytes(setting.dtype));
  const auto out = static_cast<double>(output_bytes(setting.dtype));
  const cuda::Tiling tile = setting.tiling();
  const double rows = tile.BM * static_cast<double>(setting.launch().cluster);
  const double tiles =
      std::ceil(static_cast<double>(m) / rows) * static_cast<double>(ceil_div(n, tile.BN));
  Footprint footprint;
  footprint.register_bytes = 4 * out;
  const double result_bytes = out * area(m, n);
  footprint.dram_bytes = in * (area(m, k) + area(k, n)) + result_bytes;
  footprint.l2_bytes = tiles * in * (rows + tile.BN) * static_cast<double>(k) + result_bytes;
  return footprint;
}

std::map<std::string, double> by_name(const vgpu::Counters& c) {
  const auto number = [](std::uint64_t count) { return static_cast<double>(count); };
  return {{"global_load_requests", number(c.global_load_requests)},
          {"global_load_sectors", number(c.global_load_sectors)},
          {"global_store_requests", number(c.global_store_requests)},
          {"global_store_sectors", number(c.global_store_sectors)},
          {"issued_shared_load_requests", number(c.issued_shared_load_requests)},
          {"issued_shared_load_wavefronts", number(c.issued_shared_load_wavefronts)},
          {"issued_shared_store_requests", number(c.issued_shared_store_requests)},
          {"issued_shared_store_wavefronts", number(c.issued_shared_store_wavefronts)},
          {"ffma", number(c.ffma)},
          {"instructions", number(c.instructions)}};
}

/// Counters of the whole problem; partial tiles count as full.
std::map<std::string, double> counters_of(const GemmSetting& setting, const Samples& samples) {
  std::map<std::string, double> counters = by_name(samples.trace1.counters);
  const std::map<std::string, double> longer = by_name(samples.trace2.counters);
  const double step =
      samples.k1 == samples.k2
          ? 0
          : (static_cast<double>(setting.size.k) - samples.k1) / (samples.k2 - samples.k1);
  for (auto& [name, value] : counters) {
    value = samples_of(setting) * (value + step * (longer.at(name) - value));
  }
  return counters;
}

}  // namespace

Evidence gemm_evidence(const GemmSetting& setting, const Samples& samples, const Results& results) {
  Evidence evidence;
  evidence.id = setting.info->id;
  evidence.sample = samples.trace2;
  evidence.quantities = samples.at(static_cast<double>(setting.size.k)) * samples_of(setting);
  evidence.quantities.multiply_adds =
      area(setting.size.m, setting.size.n) * static_cast<double>(setting.size.k);
  evidence.counters = counters_of(setting, samples);
  evidence.machine =
      machine_of(setting.device, setting.dtype, evidence.uses_matrix_units(), results);
  evidence.footprint = footprint_of(setting);
  evidence.blocks = static_cast<double>(setting.launch().grid.count());
  evidence.roofline =
      roofline(evidence.machine, evidence.quantities, evidence.footprint, evidence.blocks);
  return evidence;
}

Evidence kernel_evidence(const std::string& id, const std::vector<KernelTrace>& launches,
                         const vgpu::DeviceDescription& device, Dtype dtype,
                         const Footprint& footprint, const Results& results) {
  Evidence evidence;
  evidence.id = id;
  for (const KernelTrace& launch : launches) {
    evidence.quantities += quantities(launch, static_cast<int>(input_bytes(dtype)),
                                      static_cast<int>(output_bytes(dtype)));
    evidence.blocks += static_cast<double>(launch.grid.count());
    for (const auto& [name, value] : by_name(launch.counters)) evidence.counters[name] += value;
    if (launch.counters.instructions >= evidence.sample.counters.instructions) {
      evidence.sample = launch;
    }
  }
  evidence.blocks /= static_cast<double>(std::max<std::size_t>(1, launches.size()));
  evidence.machine = machine_of(device, dtype, evidence.uses_matrix_units(), results);
  evidence.footprint = footprint;
  evidence.footprint.register_bytes = 4.0 * static_cast<double>(output_bytes(dtype));
  // A kernel without multiplications is treated as a stream that needs each of its bytes once.
  if (evidence.quantities.multiply_adds == 0 && footprint.dram_bytes == 0) {
    evidence.footprint.dram_bytes =
        evidence.quantities.global_load_bytes + evidence.quantities.global_store_bytes;
  }
  evidence.roofline =
      roofline(evidence.machine, evidence.quantities, evidence.footprint, evidence.blocks);
  return evidence;
}

void scale(Evidence& evidence, double factor, double multiply_adds) {
  evidence.quantities = evidence.quantities * factor;
  evidence.quantities.multiply_adds = multiply_adds;
  for (auto& [name, value] : evidence.counters) value *= factor;
  evidence.roofline =
      roofline(evidence.machine, evidence.quantities, evidence.footprint, evidence.blocks);
}

}  // namespace rung::analysis
