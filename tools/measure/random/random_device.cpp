#include "tools/measure/random/random_device.hpp"

#include "tools/measure/contenders.hpp"
#include "tools/measure/random/cpu_plan_times.hpp"
#include "tools/measure/random/host_pool.hpp"
#include "tools/measure/random/operand_pool.hpp"
#include "tools/measure/random/random_bench.hpp"

namespace rung {
namespace {

class RandomGpu final : public RandomDevice {
 public:
  RandomGpu(const RandomRequest& request, std::size_t input_bytes, std::size_t c_bytes)
      : request_(request),
        library_(*request.gpu, request.compute_mode),
        standard_(*request.gpu),
        pool_(*request.gpu, input_bytes, c_bytes) {}

  const Contender& library() const override { return library_; }
  const Contender* standard() const override {
    return request_.compute_mode == ComputeMode::standard ? nullptr : &standard_;
  }
  ProblemPool& pool() override { return pool_; }
  LibraryPlan plan(const GemmCall& call) const override {
    return library_plan(*request_.gpu, call);
  }

  std::vector<PlanTime> time_plans(const LibraryPlan& chosen, const SampledCheck& check,
                                   const std::function<PooledGemm()>& bind,
                                   const std::function<void(double done)>& progress) override {
    PlanTimesRequest request;
    request.gpu = request_.gpu;
    request.rungs = request_.rungs;
    request.seconds = request_.seconds;
    request.threads = request_.threads;
    request.progress = progress;
    request.stops = request_.stops;
    return rung::time_plans(request, chosen, pool_, check, bind);
  }

 private:
  const RandomRequest& request_;
  GpuLibraryContender library_, standard_;  // with the same driver
  OperandPool pool_;
};

class RandomCpu final : public RandomDevice {
 public:
  RandomCpu(const RandomRequest& request, std::size_t input_bytes, std::size_t c_bytes)
      : request_(request), library_(request.compute_mode), pool_(input_bytes, c_bytes) {}

  const Contender& library() const override { return library_; }
  const Contender* standard() const override {
    return request_.compute_mode == ComputeMode::standard ? nullptr : &standard_;
  }
  ProblemPool& pool() override { return pool_; }
  LibraryPlan plan(const GemmCall& call) const override {
    return library_plan(call, request_.threads);
  }

  std::vector<PlanTime> time_plans(const LibraryPlan& chosen, const SampledCheck& check,
                                   const std::function<PooledGemm()>& bind,
                                   const std::function<void(double done)>& progress) override {
    return time_cpu_plans({.rungs = request_.cpu_rungs,
                           .seconds = request_.seconds,
                           .threads = request_.threads,
                           .progress = progress,
                           .stops = request_.stops},
                          chosen, pool_, check, bind());
  }

 private:
  const RandomRequest& request_;
  LibraryContender library_, standard_;
  HostPool pool_;
};

}  // namespace

std::unique_ptr<RandomDevice> make_random_device(const RandomRequest& request,
                                                 std::size_t input_bytes, std::size_t c_bytes) {
  if (request.gpu == nullptr) return std::make_unique<RandomCpu>(request, input_bytes, c_bytes);
  return std::make_unique<RandomGpu>(request, input_bytes, c_bytes);
}

}  // namespace rung
