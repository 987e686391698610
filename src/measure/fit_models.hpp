#pragma once
// Fits a cost model to measured times on a device, from the constants of another one: one factor for
// each group of constants that a GPU's clocks and bandwidths change together.

#include <cstddef>
#include <vector>

#include "backends/cuda/cost_models.hpp"

namespace rung {

/// The measured time of one configuration for one shape.
struct MeasuredPlan {
  std::size_t shape = 0;  // plans of one shape have the same number
  Dtype dtype = Dtype::f32;
  cuda::GemmSize size = {};
  cuda::Copies copies = cuda::Copies::fast;
  cuda::OddRows odd_rows = {};  // odd_rows_of() the operands
  cuda::GemmConfig config;
  double seconds = 0;
};

/// The geometric mean, over shapes, of the time of the plan that the model expects to be fastest over
/// that of the fastest; 1 for no plans.
double regret_of(const cuda::BlockModel& model, const std::vector<MeasuredPlan>& plans,
                 const cuda::Limits& limits);
double regret_of(const cuda::WaveModel& model, const std::vector<MeasuredPlan>& plans,
                 const cuda::Limits& limits);

/// The model with those factors that fit best. Of a block model: on the launch, the rates of memory and
/// packing, that of L2, the exchange of partial sums, and the times of each tile. Of a wave model: on
/// a launch's exchange, on bytes, and on the times of each tile. By pattern search (Hooke and Jeeves,
/// J. ACM 8, 1961) on the errors of logarithms, of which large ones count linearly; factors that the
/// plans do not determine stay near 1.
cuda::BlockModel fitted(const cuda::BlockModel& start, const std::vector<MeasuredPlan>& plans,
                        const cuda::Limits& limits);
cuda::WaveModel fitted(const cuda::WaveModel& start, const std::vector<MeasuredPlan>& plans,
                       const cuda::Limits& limits);

}  // namespace rung
