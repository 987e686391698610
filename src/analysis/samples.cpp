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

Samples sample_at(std::int64_t k, std::int64_t step, int element_bytes, double elements,
                  const std::function<KernelTrace(std::int64_t k)>& run) {
  const bool is_short = k <= long_sample * step;
  // Tiles along k that are not whole stay what they are.
  const std::int64_t k1 = is_short ? k : short_sample * step + k % step;
  const std::int64_t k2 = is_short ? k : long_sample * step + k % step;
  Samples samples;
  samples.k1 = static_cast<double>(k1);
  samples.k2 = static_cast<double>(k2);
  samples.trace1 = run(k1);
  samples.trace2 = is_short ? samples.trace1 : run(k2);
  samples.at_k1 = quantities(samples.trace1, element_bytes);
  samples.at_k2 = quantities(samples.trace2, element_bytes);
  samples.elements = elements;
  return samples;
}

Samples sample(const GemmSetting& setting) {
  const cuda::Tiling tiling = setting.tiling();
  TileRunner runner(setting);
  return sample_at(setting.size.k, std::int64_t{std::max(tiling.BK, 8)} * setting.plan.splits,
                   static_cast<int>(input_bytes(setting.dtype)),
                   static_cast<double>(std::min<std::int64_t>(setting.size.m, tiling.BM)) *
                       static_cast<double>(std::min<std::int64_t>(setting.size.n, tiling.BN)),
                   [&](std::int64_t k) { return runner.run(k); });
}

}  // namespace rung::analysis
