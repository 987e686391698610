#include "tools/measure/random/random_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/dtype.hpp"
#include "core/kernel_error.hpp"
#include "core/random.hpp"
#include "rung/error.hpp"
#include "tools/measure/random/random_device.hpp"
#include "tools/measure/random/sampled_check.hpp"
#include "tools/measure/timing.hpp"

namespace rung {
namespace {

class RandomBench {
 public:
  explicit RandomBench(const RandomRequest& request)
      : request_(request),
        device_(make_device()),
        pool_(device_->pool()),
        others_(request.peers.begin(), request.peers.end()) {
    if (device_->standard() != nullptr) others_.push_back(device_->standard());
  }

  void run() {
    for (std::int64_t index = 0; index < request_.count; ++index) {
      for (const Dtype dtype : request_.dtypes) {
        for (const Layout& layout : request_.layouts) {
          if (request_.stops && request_.stops()) return;
          take(index, dtype, layout);
          ++done_;
        }
      }
    }
  }

 private:
  Size shape(std::int64_t index, Dtype dtype) const {
    if (!request_.sizes.empty()) return request_.sizes[static_cast<std::size_t>(index)];
    return draw_shape(request_.seed, static_cast<std::uint64_t>(index), dtype, request_.limits);
  }

  /// A device with memory for the largest of all problems.
  std::unique_ptr<RandomDevice> make_device() const {
    std::size_t inputs = 0, c = 0;
    for (std::int64_t index = 0; index < request_.count; ++index) {
      for (const Dtype dtype : request_.dtypes) {
        const Size size = shape(index, dtype);
        inputs = std::max(inputs, ProblemPool::input_bytes(size, dtype));
        c = std::max(c, static_cast<std::size_t>(size.m * size.n) * output_bytes(dtype));
      }
    }
    return make_random_device(request_, inputs, c);
  }

  void take(std::int64_t index, Dtype dtype, const Layout& layout) {
    RandomResult result;
    result.dtype = dtype;
    result.size = shape(index, dtype);
    result.a_transposed = layout.a_transposed;
    result.b_transposed = layout.b_transposed;
    what_ = fmt::format("{} of {}: {} {} {}x{}x{}", index + 1, request_.count, name(dtype),
                        layout_name(layout.a_transposed, layout.b_transposed), result.size.m,
                        result.size.n, result.size.k);
    report(0);
    const auto bind = [&] {
      PooledGemm problem = pool_.bind(dtype, result.size, layout.a_transposed, layout.b_transposed);
      problem.call.beta = request_.beta;
      return problem;
    };
    const SampledCheck check(bind(), random_bits(request_.seed, static_cast<std::uint64_t>(index)));
    try {
      compare(result, bind, check);
      if (result.seconds > 0 && request_.has_regret()) time_all_plans(result, bind, check);
    } catch (const KernelError& error) {
      result.wrong = error.what();
    }
    // Plans timed before the end are reported, but the fastest may not be among them.
    if (request_.stops && request_.stops()) result.regret = 0;
    request_.measured(result);
  }

  /// Times the library and its peers, provided that their results are correct.
  void compare(RandomResult& result, const std::function<PooledGemm()>& bind,
               const SampledCheck& check) {
    const Admission own = admit(device_->library(), bind, check);
    result.skipped = own.skipped;
    result.wrong = own.wrong;
    if (!own) return;
    GemmCall call = bind().call;
    call.compute_mode = request_.compute_mode;
    result.plan = device_->plan(call);
    for (const Contender* other : others_) {
      const auto& [skipped, wrong] = admit(*other, bind, check);
      const std::string name = other == device_->standard() ? "standard" : other->name();
      result.peers.push_back(
          {.peer = name, .why_not = wrong.empty() ? skipped : "wrong: " + wrong});
    }
    time(result, bind().call);
  }

  struct Admission {
    std::string skipped, wrong;

    explicit operator bool() const { return skipped.empty() && wrong.empty(); }
  };

  Admission admit(const Contender& contender, const std::function<PooledGemm()>& bind,
                  const SampledCheck& check) {
    try {
      const GemmCall call = bind().call;
      const Bound bound = contender.bind(call, request_.threads);
      if (!bound) return {bound.why_not, {}};
      pool_.reset_c(call);
      bound.batch.run(1);
      return {{}, check.error(pool_)};
    } catch (const KernelError& error) {
      return {{}, error.what()};
    }
  }

  void time(RandomResult& result, const GemmCall& call) {
    std::vector<Candidate> candidates = {{device_->library().bind(call, request_.threads).batch}};
    std::vector<Comparison*> owners;
    for (std::size_t i = 0; i < result.peers.size(); ++i) {
      if (!result.peers[i].why_not.empty()) continue;
      candidates.push_back({others_[i]->bind(call, request_.threads).batch});
      owners.push_back(&result.peers[i]);
    }
    TimingOptions options;
    options.seconds = request_.seconds;
    const std::vector<Timing> timings = time_interleaved(candidates, options);
    const std::vector<double>& own = timings.front().seconds;
    result.seconds = summarize(own).median;
    for (std::size_t i = 0; i < owners.size(); ++i) {
      owners[i]->seconds = summarize(timings[i + 1].seconds).median;
      owners[i]->ratio = median_ratio(timings[i + 1].seconds, own);
    }
  }

  void time_all_plans(RandomResult& result, const std::function<PooledGemm()>& bind,
                      const SampledCheck& check) {
    result.plans =
        device_->time_plans(result.plan, check, bind, [this](double done) { report(done); });
    result.best_plan = fastest(result.plans);
    result.regret = regret(result.plans);
  }

  void report(double done_here) const {
    if (!request_.progress) return;
    const double all = static_cast<double>(request_.count) *
                       static_cast<double>(request_.dtypes.size() * request_.layouts.size());
    request_.progress(what_, (static_cast<double>(done_) + done_here) / all);
  }

  const RandomRequest& request_;
  std::unique_ptr<RandomDevice> device_;
  ProblemPool& pool_;
  std::vector<const Contender*> others_;  // other than the library
  std::string what_;
  std::int64_t done_ = 0;
};

}  // namespace

double RandomResult::ratio() const {
  double least = 0;
  for (const Comparison& peer : peers) {
    if (peer.ratio > 0 && (least == 0 || peer.ratio < least)) least = peer.ratio;
  }
  return least;
}

std::string layout_name(bool a_transposed, bool b_transposed) {
  return {a_transposed ? 't' : 'n', b_transposed ? 't' : 'n'};
}

void run_random_bench(const RandomRequest& request) { RandomBench(request).run(); }

}  // namespace rung
