#pragma once
// What multiplies random shapes: the library on a GPU, or on the CPU.

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "measure/contender.hpp"
#include "measure/random/library_plan.hpp"
#include "measure/random/plan_times.hpp"
#include "measure/random/problem_pool.hpp"
#include "measure/random/sampled_check.hpp"

namespace rung {

struct RandomRequest;

class RandomDevice {
 public:
  virtual ~RandomDevice() = default;

  virtual const Contender& library() const = 0;
  /// The library in mode standard; null if that is its mode.
  virtual const Contender* standard() const = 0;
  virtual ProblemPool& pool() = 0;
  /// What the library chooses.
  virtual LibraryPlan plan(const GemmCall& call) const = 0;
  /// The times of all plans: see plan_times.hpp.
  virtual std::vector<PlanTime> time_plans(const LibraryPlan& chosen, const SampledCheck& check,
                                           const std::function<PooledGemm()>& bind,
                                           const std::function<void(double done)>& progress) = 0;
};

/// The device of the request, with room for problems whose inputs, and whose C, take at most that
/// many bytes. The request must outlive it.
std::unique_ptr<RandomDevice> make_random_device(const RandomRequest& request,
                                                 std::size_t input_bytes, std::size_t c_bytes);

}  // namespace rung
