#include "tools/analysis/vector_sample.hpp"

#include <algorithm>

#include "core/dtype.hpp"

namespace rung::analysis {

VectorSample sample_vectors(const RungInfo& rung, Dtype dtype, std::int64_t n,
                            const VectorDevice& device, const Results& results) {
  constexpr std::int64_t most = 1 << 22;
  VectorSample sample;
  sample.n = std::min(n, most);
  sample.call = trace_call(rung, dtype, sample.n, device.gpu, device.code);
  const double vectors = rung.op == "sum" ? 1 : 2;
  const double bytes = vectors * static_cast<double>(n) * static_cast<double>(input_bytes(dtype));
  sample.evidence = kernel_evidence(rung.id, sample.call.launches, vgpu::parse_device(device.gpu),
                                    dtype, {.dram_bytes = bytes}, results);
  scale(sample.evidence, static_cast<double>(n) / static_cast<double>(sample.n),
        static_cast<double>(n));
  return sample;
}

}  // namespace rung::analysis
