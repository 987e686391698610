#include "tools/analysis/samples.hpp"

#include <algorithm>

#include "core/dtype.hpp"

namespace rung::analysis {
namespace {

// In k-blocks: enough for the main loop to dominate, and few enough to be fast.
constexpr std::int64_t short_sample = 8;
constexpr std::int64_t long_sample = 12;

}  // namespace

double Samples::per_k(double Quantities::* member) const {
  return k1 == k2 ? 0 : (at_k2.*member - at_k1.*member) / (k2 - k1) / elements;
}

double Samples::constant(double Quantities::* member) const {
  return at_k1.*member / elements - per_k(member) * k1;
}

Quantities Samples::at(double k) const {
  return k1 == k2 ? at_k1 : extrapolate(at_k1, k1, at_k2, k2, k);
}

Samples sample_at(std::int64_t k, std::int64_t step, Dtype dtype, double elements,
                  const std::function<KernelTrace(std::int64_t k)>& run) {
  const bool is_short = k <= long_sample * step;
  // Keeps a partial last k-block.
  const std::int64_t half = k < 2 * step ? k : k / 2 / step * step + k % step;
  const std::int64_t k1 = is_short ? half : short_sample * step + k % step;
  const std::int64_t k2 = is_short ? k : long_sample * step + k % step;
  Samples samples;
  samples.k1 = static_cast<double>(k1);
  samples.k2 = static_cast<double>(k2);
  samples.trace1 = run(k1);
  samples.trace2 = k1 == k2 ? samples.trace1 : run(k2);
  const auto element = static_cast<int>(input_bytes(dtype));
  const auto result = static_cast<int>(output_bytes(dtype));
  samples.at_k1 = quantities(samples.trace1, element, result);
  samples.at_k2 = quantities(samples.trace2, element, result);
  samples.elements = elements;
  return samples;
}

Samples sample(const GemmSetting& setting) {
  const GemmSetting::Extent extent = setting.sample();
  TileRunner runner(setting);
  return sample_at(
      setting.size.k, std::int64_t{std::max(setting.tiling().BK, 8)} * setting.config.splits,
      setting.dtype, static_cast<double>(extent.rows) * static_cast<double>(extent.columns),
      [&](std::int64_t k) { return runner.run(k); });
}

}  // namespace rung::analysis
