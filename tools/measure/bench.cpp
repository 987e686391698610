#include "tools/measure/bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/integers.hpp"
#include "device/cpu/machine.hpp"
#include "tools/measure/contenders.hpp"
#include "tools/measure/on_gpu.hpp"
#include "tools/measure/quiet_machine.hpp"
#include "tools/measure/timing.hpp"

namespace rung {
namespace {

// The state of a contender in the benchmark.
struct Entry {
  std::unique_ptr<Contender> owned;  // null if the request owns the contender
  const Contender* contender;
  double expected = 0;
  std::vector<double> samples;
  std::vector<double> graph_samples;
};

// Calls shorter than this are also timed in a graph, if the device supports graphs. About ten times
// the host's launch overhead.
constexpr double graph_below_seconds = 50e-6;
// A graph must be long compared to its launch overhead.
constexpr double graph_seconds = 1e-3;

constexpr const char* interrupted = "interrupted";

class Bench {
 public:
  explicit Bench(const BenchRequest& request)
      : request_(request),
        workload_(make_workload(request.op, request.size, request.options, *request.backend)) {
    result_.op = request.op;
    result_.size = request.size;
    result_.options = request.options;
    result_.device = request.backend->device();
    result_.flops = workload_->flops();
    result_.bytes = workload_->bytes();
    result_.counts_flops = workload_->counts_flops();
    result_.operand_sets = workload_->operand_sets();
    result_.leading_dimensions = workload_->leading_dimensions();
  }

  BenchResult run() {
    enter_all();
    for (std::size_t i = 0; i < entries_.size(); ++i) admit(entries_[i], result_.rows[i]);
    measure();
    if (!is_stopped()) measure_in_graphs();
    if (!is_stopped()) measure_host();
    for (std::size_t i = 0; i < entries_.size(); ++i) compare(entries_[i], result_.rows[i]);
    return std::move(result_);
  }

 private:
  void enter_all() {
    enter_own();
    for (const RungInfo* info : request_.rungs) {
      BenchRow row;
      row.slug = info->slug;
      row.bottleneck = info->bottleneck;
      row.previous = info->from;
      enter(std::make_unique<RungContender>(*request_.backend, *info), std::move(row));
    }
    if (request_.with_library) {
      enter_library();
      if (request_.options.compute_mode == ComputeMode::batch_invariant) enter_standard_mode();
    }
    for (const Peer* peer : request_.peers) {
      enter_peer(nullptr, *peer);
      if (request_.options.groups == 0) continue;
      auto loop = peer->loop_of_groups();
      if (const Contender* const contender = loop.get()) enter_peer(std::move(loop), *contender);
    }
  }

  void enter_peer(std::unique_ptr<Contender> owned, const Contender& contender) {
    BenchRow row;
    row.kind = Kind::peer;
    row.name = row.slug = contender.name();
    result_.rows.push_back(std::move(row));
    entries_.push_back({std::move(owned), &contender, 0, {}, {}});
  }

  void enter_own() {
    if (request_.own == nullptr) return;
    BenchRow row;
    row.name = row.slug = request_.own->name();
    if (!request_.rungs.empty()) row.previous = request_.rungs.front()->slug;
    result_.rows.push_back(std::move(row));
    entries_.push_back({nullptr, request_.own, 0, {}, {}});
  }

  /// Null if the library does not run on the backend's device. It supports CPUs and CUDA GPUs.
  std::unique_ptr<Contender> library_in(ComputeMode mode) const {
    const bool is_mixed = request_.options.family == Family::mixed;
    if (request_.backend->name() != "cpu") return library_on_gpu(*request_.backend, mode, is_mixed);
    return std::make_unique<LibraryContender>(mode, is_mixed);
  }

  void enter_library() {
    std::unique_ptr<Contender> contender = library_in(request_.options.compute_mode);
    if (contender == nullptr) return;
    BenchRow library;
    library.kind = Kind::library;
    library.chose = workload_->library_choice();
    enter(std::move(contender), std::move(library));
  }

  // Measures the cost of bitwise reproducibility: enters the library without it as a peer.
  void enter_standard_mode() {
    std::unique_ptr<Contender> standard = library_in(ComputeMode::standard);
    if (standard == nullptr) return;
    const Contender& contender = *standard;
    enter_peer(std::move(standard), contender);
    result_.rows.back().name = result_.rows.back().slug = "standard mode";
  }

  void enter(std::unique_ptr<Contender> contender, BenchRow row) {
    row.name = contender->name();
    if (row.slug.empty()) row.slug = row.name;
    const Contender* plain = contender.get();
    result_.rows.push_back(std::move(row));
    entries_.push_back({std::move(contender), plain, 0, {}, {}});
  }

  // Verifies the contenders. If one fails, it is not timed.
  void admit(Entry& entry, BenchRow& row) {
    row.compute_mode = entry.contender->compute_mode();
    if (is_stopped()) {
      row.skipped = interrupted;
      return;
    }
    try {
      if (const Bound bound = workload_->bind(*entry.contender); !bound) {
        row.skipped = bound.why_not;
        return;
      }
      entry.expected = predict(*entry.contender);
    } catch (const KernelError& error) {
      row.verdict.message = error.what();
      return;
    }
    constexpr double calls = 3;  // two for verification, and at least one per sample
    const double limit = 20 * request_.seconds;
    if (calls * entry.expected > limit) {
      row.skipped = fmt::format("would take about {:.3g} s (limit {:.3g} s; see --seconds)",
                                calls * entry.expected, limit);
      return;
    }
    report("verifying " + row.name, 0);
    Verified verified = workload_->verify(*entry.contender);
    row.verdict = std::move(verified.verdict);
    row.errors = verified.errors;
  }

  // The time per call in seconds, estimated from a small problem of the same shape; 0 if the
  // problem itself is small.
  double predict(const Contender& contender) {
    const double small = is_gpu() ? 1 << 30 : 1 << 24;
    const double volume = request_.size.volume();
    if (request_.op != "gemm" || volume <= 2 * small) return 0;
    if (!small_workload_) {
      const double scale = std::cbrt(small / volume);
      const auto shrink = [&](std::int64_t extent) {
        return std::max<std::int64_t>(1, std::llround(scale * static_cast<double>(extent)));
      };
      const Size& size = request_.size;
      WorkloadOptions options = request_.options;
      options.cold = false;
      // Groups of packed weights must be complete.
      const std::int64_t step = options.weight_bits > 0 ? options.weight_group : 1;
      const std::int64_t k = round_up(shrink(size.k), step);
      small_workload_ = make_workload(request_.op, {shrink(size.m), shrink(size.n), k}, options,
                                      *request_.backend);
    }
    const Bound bound = small_workload_->bind(contender);
    if (!bound) return 0;
    if (is_gpu()) bound.batch.run(1);  // the first call also loads code
    return time_batch(bound.batch, 1) * workload_->flops() / small_workload_->flops();
  }

  void measure() {
    std::vector<Candidate> candidates;
    std::vector<std::size_t> owners;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (!result_.rows[i].verdict.right) continue;
      // Binds contenders only after verification of all: a kernel that fails destroys the device's
      // memory.
      candidates.push_back({workload_->bind(*entries_[i].contender).batch, entries_[i].expected});
      owners.push_back(i);
    }
    const WorkloadCeiling ceiling = workload_->ceiling();
    for (const CeilingBatch& variant : ceiling.variants) candidates.push_back({variant.batch});

    TimingOptions options;
    options.seconds = request_.seconds;
    options.least_samples = least_samples;
    options.progress = [this](double done) { report("timing " + request_.op, done); };
    options.stopped = request_.stopped;
    const LoadByOthers load;
    std::vector<Timing> timings = time_calmly(candidates, options);
    if (is_cpu()) result_.load_by_others = load.mean();
    result_.processors = cpu::available_threads();
    for (std::size_t i = 0; i < owners.size(); ++i) {
      entries_[owners[i]].samples = std::move(timings[i].seconds);
      BenchRow& row = result_.rows[owners[i]];
      row.seconds = summarize(entries_[owners[i]].samples);
      if (!row.timed()) row.skipped = interrupted;
      row.own_clock = candidates[i].batch.device_seconds().has_value();
    }
    result_.ceiling = ceiling.name;
    for (std::size_t i = 0; i < ceiling.variants.size(); ++i) {
      std::vector<double>& seconds = timings[owners.size() + i].seconds;
      const Summary summary = summarize(seconds);
      if (summary.count == 0) continue;
      // A machine's limit is what its best sample reached: other programs only slow it down. Clocks of
      // GPUs change during a run, so that pairs of samples compare better.
      const double rate = ceiling.variants[i].work / (is_cpu() ? summary.min : summary.median);
      if (rate <= result_.ceiling_rate) continue;
      result_.ceiling_rate = rate;
      ceiling_work_ = ceiling.variants[i].work;
      ceiling_samples_ = std::move(seconds);
    }
  }

  /// Repeats the measurement if the times of the ceiling, the last candidate, vary, and keeps the
  /// result with less variation. A GPU's own clock does not detect load on the host.
  std::vector<Timing> time_calmly(const std::vector<Candidate>& candidates,
                                  const TimingOptions& options) {
    const auto spread = [](const std::vector<Timing>& timings) {
      return timings.empty() ? 0 : summarize(timings.back().seconds).spread();
    };
    std::vector<Timing> timings = time_interleaved(candidates, options);
    if (!is_cpu() || is_stopped() || spread(timings) <= noisy_spread) return timings;
    std::vector<Timing> again = time_interleaved(candidates, options);
    return spread(again) < spread(timings) && !is_stopped() ? again : timings;
  }

  // Repeats the measurement in graphs for calls so short that the host's overhead is visible.
  void measure_in_graphs() {
    std::vector<Candidate> candidates;
    std::vector<std::size_t> owners;
    std::vector<std::int64_t> calls;
    const auto sets = static_cast<std::int64_t>(workload_->operand_sets());
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const double seconds = result_.rows[i].seconds.median;
      if (seconds == 0 || seconds > graph_below_seconds) continue;
      const auto rotations = static_cast<std::int64_t>(
          std::ceil(graph_seconds / (seconds * static_cast<double>(sets))));
      const BoundCall recorded = record(*entries_[i].contender, sets * rotations);
      if (!recorded) continue;
      candidates.push_back({recorded});
      owners.push_back(i);
      calls.push_back(sets * rotations);
    }
    TimingOptions options;
    options.seconds = request_.seconds;
    options.progress = [this](double done) { report("timing graphs of " + request_.op, done); };
    std::vector<Timing> timings = time_interleaved(candidates, options);
    for (std::size_t i = 0; i < owners.size(); ++i) {
      std::vector<double>& samples = entries_[owners[i]].graph_samples;
      samples = std::move(timings[i].seconds);
      for (double& seconds : samples) seconds /= static_cast<double>(calls[i]);
      result_.rows[owners[i]].graph_seconds = summarize(samples);
    }
  }

  // Measures the host time of these calls.
  void measure_host() {
    constexpr int rounds = 25;
    constexpr std::int64_t calls = 100;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (entries_[i].graph_samples.empty()) continue;
      const BoundCall batch = workload_->bind(*entries_[i].contender).batch;
      batch.run(1);
      std::vector<double> samples;
      for (int round = 0; round < rounds; ++round) {
        samples.push_back(time_enqueue(batch, calls) / static_cast<double>(calls));
      }
      result_.rows[i].host_seconds = summarize(samples);
    }
  }

  // Returns an empty batch if the device or the contender does not support graphs.
  BoundCall record(const Contender& contender, std::int64_t calls) {
    try {
      return request_.backend->record(workload_->bind(contender).batch, calls);
    } catch (const KernelError&) {
      return {};
    }
  }

  void compare(const Entry& entry, BenchRow& row) {
    const std::vector<double>& own = entry.samples;
    if (row.timed() && is_cpu() && result_.ceiling_rate > 0) {
      row.ceiling_ratio = workload_->work() / row.seconds.median / result_.ceiling_rate;
      row.ceiling_margin = row.ceiling_ratio * relative_margin(row.seconds);
    } else if (row.timed() && !ceiling_samples_.empty()) {
      const Summary ratios = paired_ratios(ceiling_samples_, own);
      row.ceiling_ratio = workload_->work() / ceiling_work_ * ratios.median;
      row.ceiling_margin = workload_->work() / ceiling_work_ * margin_of_ratio(ratios);
    }
    const Entry* previous = nullptr;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const BenchRow& other = result_.rows[i];
      if (other.kind == Kind::rung && other.slug == row.previous) previous = &entries_[i];
      if (other.kind != Kind::peer || row.kind == Kind::peer) continue;
      Comparison comparison{.peer = other.name,
                            .seconds = other.seconds.median,
                            .why_not = other.skipped,
                            .graph_seconds = other.graph_seconds.median,
                            .errors = other.errors};
      if (other.wrong()) comparison.why_not = "wrong: " + other.verdict.message;
      const Summary ratios = paired_ratios(entries_[i].samples, own);
      comparison.ratio = ratios.median;
      comparison.margin = margin_of_ratio(ratios);
      comparison.graph_ratio = median_ratio(entries_[i].graph_samples, entry.graph_samples);
      row.peers.push_back(std::move(comparison));
    }
    if (previous == nullptr || previous->samples.empty() || own.empty()) {
      row.previous.clear();
    } else {
      const Summary ratios = paired_ratios(previous->samples, own);
      row.previous_ratio = ratios.median;
      row.previous_margin = margin_of_ratio(ratios);
    }
  }

  bool is_stopped() const { return request_.stopped && request_.stopped(); }
  bool is_cpu() const { return request_.backend->name() == "cpu"; }
  bool is_gpu() const { return request_.backend->name() == "gpu"; }

  void report(const std::string& what, double done) const {
    if (request_.progress) request_.progress(what, done);
  }

  const BenchRequest& request_;
  std::unique_ptr<Workload> workload_;
  std::unique_ptr<Workload> small_workload_;
  std::vector<Entry> entries_;
  std::vector<double> ceiling_samples_;
  double ceiling_work_ = 1;
  BenchResult result_;
};

}  // namespace

BenchResult run_bench(const BenchRequest& request) { return Bench(request).run(); }

}  // namespace rung
