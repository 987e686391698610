#include "analysis/samples.hpp"

#include <algorithm>

namespace rung::analysis {
namespace {

// In tiles along k: enough for the main loop to outweigh what is around it, and few enough to take
// no time.
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

Samples sample(const GemmSetting& setting) {
  const cuda::Tiling tiling = setting.tiling();
  const std::int64_t step = std::int64_t{std::max(tiling.BK, 8)} * setting.plan.splits;
  const std::int64_t k = setting.size.k;
  const bool is_short = k <= long_sample * step;
  // Tiles along k that are not whole stay what they are.
  const std::int64_t k1 = is_short ? k : short_sample * step + k % step;
  const std::int64_t k2 = is_short ? k : long_sample * step + k % step;
  const auto element = static_cast<int>(input_bytes(setting.dtype));
  const auto result = static_cast<int>(output_bytes(setting.dtype));
  Samples samples;
  samples.k1 = static_cast<double>(k1);
  samples.k2 = static_cast<double>(k2);
  TileRunner runner(setting);
  samples.trace1 = runner.run(k1);
  samples.trace2 = is_short ? samples.trace1 : runner.run(k2);
  samples.at_k1 = quantities(samples.trace1, element, result);
  samples.at_k2 = quantities(samples.trace2, element, result);
  const GemmSetting::Extent extent = setting.sample();
  samples.elements = static_cast<double>(extent.rows) * static_cast<double>(extent.columns);
  return samples;
}

}  // namespace rung::analysis
