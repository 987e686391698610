#pragma once
// Fits a cost model to times measured on a device, starting from another device's constants: one
// factor for each group of constants that scale together with a GPU's clocks and bandwidths.

#include <cstddef>
#include <vector>

#include "select/cuda/models.hpp"

namespace rung {

/// The measured time of one configuration for one shape.
struct MeasuredPlan {
  std::size_t shape = 0;  // same value for plans of the same shape
  Dtype dtype = Dtype::f32;
  cuda::GemmSize size = {};
  cuda::Copies copies = cuda::Copies::fast;
  cuda::OddRows odd_rows = {};  // odd_rows_of() the operands
  cuda::GemmConfig config;
  double seconds = 0;
};

/// The geometric mean over shapes of the time of the plan predicted to be fastest, divided by the
/// time of the fastest plan; 1 if there are no plans.
double regret_of(const cuda::BlockModel& model, const std::vector<MeasuredPlan>& plans,
                 const cuda::Limits& limits);
double regret_of(const cuda::WaveModel& model, const std::vector<MeasuredPlan>& plans,
                 const cuda::Limits& limits);

/// The model scaled by the best-fitting factors. For a block model: of the launch, the bandwidths
/// of memory and packing, the bandwidth of L2, the exchange of partial sums, and the times of each
/// tile. For a wave model: of the exchange, the bytes, and the times of each tile. Uses pattern
/// search (Hooke and Jeeves, J. ACM 8, 1961) with a robust loss of logarithmic errors; factors that
/// the plans do not determine remain near 1.
cuda::BlockModel fitted(const cuda::BlockModel& start, const std::vector<MeasuredPlan>& plans,
                        const cuda::Limits& limits);
cuda::WaveModel fitted(const cuda::WaveModel& start, const std::vector<MeasuredPlan>& plans,
                       const cuda::Limits& limits);

}  // namespace rung
