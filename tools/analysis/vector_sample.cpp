#include "tools/analysis/vector_sample.hpp"

#include <algorithm>

#include "core/dtype.hpp"
#include "tools/analysis/trace_rung.hpp"

namespace rung::analysis {
namespace {

/// Adds the work of a call outside its launches, and the accuracy of its result.
void add_call(Evidence& evidence, const RungInfo& rung, Dtype dtype, const CallTrace& call,
              const VectorDevice& device) {
  evidence.launches += call.is_zeroed ? 1 : 0;
  evidence.host_values = call.host_values;
  evidence.precision = precision_of(dtype);
  if (const auto bits = wrong_bits(rung, dtype, device.gpu, device.code)) {
    evidence.wrong_bits = *bits;
  }
}

}  // namespace

VectorSample sample_vectors(const RungInfo& rung, Dtype dtype, std::int64_t n,
                            const VectorDevice& device, const Results& results) {
  constexpr std::int64_t most = 1 << 22;
  VectorSample sample;
  sample.n = std::min(n, most);
  sample.call = trace_call(rung, dtype, sample.n, device.gpu, device.code);
  const double vectors = rung.op == "sum" ? 1 : 2;
  const double bytes = vectors * static_cast<double>(n) * static_cast<double>(input_bytes(dtype));
  sample.evidence =
      kernel_evidence(rung.id, sample.call.launches, parsed(sample.call.ptx, sample.call.id),
                      vgpu::parse_device(device.gpu), dtype, {.dram_bytes = bytes}, results);
  add_call(sample.evidence, rung, dtype, sample.call, device);
  scale(sample.evidence, static_cast<double>(n) / static_cast<double>(sample.n),
        static_cast<double>(n));
  return sample;
}

}  // namespace rung::analysis
