#include "tools/measure/tune.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "backends/cuda/gemm_call.hpp"
#include "core/verify.hpp"
#include "tools/measure/timing.hpp"

namespace rung {
namespace {

using cuda::GemmConfig;

// In past measurements, no configuration slower than this in the short round was the fastest in the
// long round.
constexpr double finalist_ratio = 1.3;
constexpr double short_round = 0.1;  // of the time budget

class Tuner {
 public:
  explicit Tuner(const TuneRequest& request)
      : request_(request),
        gpu_(*request.gpu),
        gemm_(*request.rung.rung),
        problem_({.dtype = request.dtype,
                  .m = request.size.m,
                  .n = request.size.n,
                  .k = request.size.k,
                  // A row-major B would have to be copied in each call if it is required along k.
                  .b_transposed = cuda::is_k_major_only(request.dtype),
                  .compute_mode = request.compute_mode}) {}

  TuneResult run() {
    enter_all();
    verify_all();
    time_all();
    return std::move(result_);
  }

 private:
  void enter_all() {
    cuda::Configs configs =
        cuda::configs(gemm_, request_.dtype, request_.size, gpu_.limits(), request_.model);
    result_.refused = std::move(configs.refused);
    enter(request_.before);
    for (const GemmConfig& config : configs.possible) {
      if (config != request_.before) enter(config);
    }
  }

  void enter(const GemmConfig& config) {
    std::string reason = cuda::why_not(gemm_, request_.dtype, request_.size, config, gpu_.limits());
    if (reason.empty())
      reason = cuda::why_not_grid(configured(config), problem_.call()).value_or("");
    if (reason.empty()) result_.candidates.push_back({.config = config});
    if (!reason.empty()) ++result_.refused[reason];
  }

  void verify_all() {
    std::size_t done = 0;
    for (TuneCandidate& candidate : result_.candidates) {
      report("verifying", done++);
      candidate.wrong = verify(candidate.config);
    }
    operands_.reset();
  }

  // The error of the result; empty if correct.
  std::string verify(const GemmConfig& config) {
    try {
      if (exact_result_) {
        if (result_on_integers(config) == *exact_result_) return "";
        operands_.reset();  // the configuration may have overwritten them
        return "on small integers another result than a configuration that is right";
      }
      const Verdict verdict = ::rung::verify(problem_, [&](const GemmCall& call) {
        gpu_.make_current();
        const auto operands = std::make_shared<const cuda::GemmOperands>(gpu_, call);
        bind(operands, config).call();
      });
      if (!verdict.right) return verdict.message;
      problem_.fill(Values::integers);
      exact_result_ = result_on_integers(config);
      return "";
    } catch (const KernelError& error) {
      operands_.reset();  // lost with the context
      return error.what();
    }
  }

  std::uint64_t result_on_integers(const GemmConfig& config) {
    problem_.renew_c();
    if (operands_ == nullptr) {
      upload();
    } else {
      operands_->upload_c();
    }
    bind(operands_, config).call();
    if (const auto place = problem_.c().broken_guard()) {
      throw KernelError("C was written " + *place);
    }
    return problem_.c().fingerprint();
  }

  void time_all() {
    std::vector<TuneCandidate*> field;
    for (TuneCandidate& candidate : result_.candidates) {
      if (candidate.wrong.empty()) field.push_back(&candidate);
    }
    if (field.empty()) return;
    problem_.fill(Values::reals);
    upload();
    time(field, short_round * request_.seconds, "first round");
    const double limit = finalist_ratio * fastest(field)->seconds.median;
    // Keeps `before` regardless of its time, for the comparison.
    std::erase_if(field, [&](const TuneCandidate* candidate) {
      return candidate->seconds.median > limit && candidate != result_.candidates.data();
    });
    const std::vector<Timing> timings = time(field, request_.seconds, "final");
    for (TuneCandidate* candidate : field) candidate->is_finalist = true;
    const auto best = static_cast<std::size_t>(
        std::find(field.begin(), field.end(), fastest(field)) - field.begin());
    result_.best = static_cast<std::size_t>(field[best] - result_.candidates.data());
    if (field.front() == result_.candidates.data()) {
      result_.gain = median_ratio(timings.front().seconds, timings[best].seconds);
    }
  }

  std::vector<Timing> time(const std::vector<TuneCandidate*>& field, double seconds,
                           std::string_view what) {
    std::vector<Candidate> candidates;
    for (const TuneCandidate* entered : field) {
      candidates.push_back({bind(operands_, entered->config)});
    }
    TimingOptions options;
    options.seconds = seconds;
    options.progress = [&](double done) {
      if (request_.progress) request_.progress(what, done);
    };
    std::vector<Timing> timings = time_interleaved(candidates, options);
    for (std::size_t i = 0; i < field.size(); ++i) {
      field[i]->seconds = summarize(timings[i].seconds);
    }
    return timings;
  }

  static TuneCandidate* fastest(const std::vector<TuneCandidate*>& field) {
    return *std::min_element(field.begin(), field.end(), [](const auto* a, const auto* b) {
      return a->seconds.median < b->seconds.median;
    });
  }

  void upload() {
    gpu_.make_current();
    GemmCall call = problem_.call();
    call.a.storage = call.b.storage = {};  // copies back only C
    operands_ = std::make_shared<const cuda::GemmOperands>(gpu_, call);
  }

  BoundCall bind(const std::shared_ptr<const cuda::GemmOperands>& operands,
                 const GemmConfig& config) {
    gpu_.make_current();
    const auto bound = std::make_shared<cuda::GemmCallOnGpu>(operands, configured(config),
                                                             problem_.call(), request_.threads);
    return {[bound](std::int64_t calls) { bound->enqueue(calls); }, [bound] { bound->wait(); },
            [bound] { bound->download(); }};
  }

  cuda::ConfiguredGemm configured(const GemmConfig& config) const {
    cuda::ConfiguredGemm configured = cuda::configured_gemm(request_.rung.id, config);
    configured.rung = &gemm_;
    return configured;
  }

  void report(std::string_view what, std::size_t done) const {
    if (!request_.progress) return;
    const auto all = static_cast<double>(result_.candidates.size());
    request_.progress(what, static_cast<double>(done) / all);
  }

  const TuneRequest& request_;
  cuda::Gpu& gpu_;
  const cuda::GemmRung& gemm_;
  GemmCase problem_;
  std::shared_ptr<const cuda::GemmOperands> operands_;  // of problem_
  std::optional<std::uint64_t> exact_result_;           // on small integers
  TuneResult result_;
};

}  // namespace

TuneResult tune(const TuneRequest& request) { return Tuner(request).run(); }

}  // namespace rung
