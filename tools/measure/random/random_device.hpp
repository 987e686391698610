#pragma once
// The device for random shapes: the library on a GPU or on the CPU.

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "tools/measure/contender.hpp"
#include "tools/measure/random/library_plan.hpp"
#include "tools/measure/random/plan_times.hpp"
#include "tools/measure/random/problem_pool.hpp"
#include "tools/measure/random/sampled_check.hpp"

namespace rung {

struct RandomRequest;

class RandomDevice {
 public:
  virtual ~RandomDevice() = default;

  virtual const Contender& library() const = 0;
  /// The library in standard mode; null if that is its mode.
  virtual const Contender* standard() const = 0;
  virtual ProblemPool& pool() = 0;
  /// The library's choice.
  virtual LibraryPlan plan(const GemmCall& call) const = 0;
  /// The times of all plans, see plan_times.hpp.
  virtual std::vector<PlanTime> time_plans(const LibraryPlan& chosen, const SampledCheck& check,
                                           const std::function<PooledGemm()>& bind,
                                           const std::function<void(double done)>& progress) = 0;
};

/// The device of the request, with memory for problems with at most this many bytes of inputs and
/// of C. The request must outlive the device.
std::unique_ptr<RandomDevice> make_random_device(const RandomRequest& request,
                                                 std::size_t input_bytes, std::size_t c_bytes);

}  // namespace rung
