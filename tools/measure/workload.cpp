#include "tools/measure/workload.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <utility>

#include "core/dtype.hpp"
#include "select/cpu/select.hpp"
#include "tools/measure/epilogue_workload.hpp"
#include "tools/measure/grouped_workload.hpp"
#include "tools/measure/on_gpu.hpp"

namespace rung {
namespace {

// The number of operand sets through which a batch rotates.
std::int64_t count_sets(double set_bytes, bool cold, const Backend& backend) {
  if (!cold) return 1;
  constexpr double max_bytes = 1 << 30;
  const double past_cache = 2.0 * static_cast<double>(backend.cache_bytes());
  const double sets = std::ceil(std::min(past_cache, max_bytes) / std::max(set_bytes, 64.0));
  constexpr std::int64_t max_sets = 4096;  // each has separate pages
  return std::clamp<std::int64_t>(std::llround(sets), 1, max_sets);
}

// One batch per set; calls rotate through them.
Bound rotate(std::vector<Bound> sets) {
  if (sets.size() == 1 || !sets.front()) return std::move(sets.front());
  const BoundCall first = sets.front().batch;  // they share a stream
  const auto wait = [first] { first.wait(); };
  const auto device_seconds = [first] { return first.device_seconds(); };
  const auto enqueue = [batches = std::move(sets),
                        next = std::size_t{0}](std::int64_t calls) mutable {
    for (std::int64_t i = 0; i < calls; ++i) {
      batches[next].batch.enqueue(1);
      next = (next + 1) % batches.size();
    }
  };
  return {{enqueue, wait, [] {}, device_seconds}, {}};
}

class GemmWorkload final : public Workload {
 public:
  GemmWorkload(const Size& size, const WorkloadOptions& options, const Backend& backend)
      : options_(options), backend_(backend) {
    GemmSpec spec;
    spec.dtype = options.dtype;
    spec.m = size.m;
    spec.n = size.n;
    spec.k = size.k;
    spec.a_transposed = options.a_transposed;
    spec.b_transposed = options.b_transposed;
    spec.alpha = options.alpha;
    spec.beta = options.beta;
    spec.batch = options.batch;
    spec.family = options.family;
    const auto batch = static_cast<double>(options.batch);
    flops_ = 2 * size.volume() * batch;
    const auto area = [](std::int64_t rows, std::int64_t cols) {
      return static_cast<double>(rows) * static_cast<double>(cols);
    };
    bytes_ = (area(size.m, size.k) + area(size.k, size.n)) *
                 static_cast<double>(input_bytes(options.dtype)) +
             area(size.m, size.n) * (options.beta == 0 ? 1 : 2) *
                 static_cast<double>(output_bytes(options.dtype));
    bytes_ *= batch;
    const std::int64_t count = count_sets(bytes_, options.cold, backend);
    for (std::int64_t i = 0; i < count; ++i) {
      spec.seed = static_cast<std::uint64_t>(i) + 1;
      sets_.push_back(std::make_unique<GemmCase>(spec));
    }
  }

  Bound bind(const Contender& contender) override {
    std::vector<Bound> bound;
    for (const auto& set : sets_) {
      set->set_compute_mode(contender.compute_mode());
      set->set_format(contender.format());
      bound.push_back(contender.bind(set->call(), options_.threads));
    }
    return rotate(std::move(bound));
  }

  Verified verify(const Contender& contender) override {
    GemmCase& set = *sets_.front();
    if (!exact_ && ExactElements::can_measure(set.spec())) exact_.emplace(set);
    set.set_compute_mode(contender.compute_mode());
    set.set_format(contender.format());
    Verified verified;
    verified.verdict = rung::verify(set, [&](const GemmCall& call) {
      contender.bind(call, options_.threads).batch.call();
      // The first run uses the elements that are timed; a second run uses small integers.
      if (exact_ && !verified.errors) verified.errors = exact_->errors_of(set);
    });
    if (!verified.verdict.right) verified.errors.reset();
    set.fill();
    return verified;
  }

  WorkloadCeiling ceiling() const override {
    if (backend_.name() != "cpu") return gpu_multiply_add_ceiling(backend_, options_.dtype);
    const GemmCall& call = sets_.front()->call();
    if (call.batch == 1 && (call.m == 1 || call.n == 1)) return reading_ceiling();
    return {std::string(name(ceiling_type(options_.dtype))) + " multiply-add",
            {fma_ceiling(options_.dtype, options_.threads)}};
  }

  std::size_t operand_sets() const override { return sets_.size(); }
  /// Empty for mixed products: the id does not describe a rung for float operands.
  std::string library_choice() const override {
    if (options_.family == Family::mixed) return {};
    GemmCall call = sets_.front()->call();
    call.compute_mode = options_.compute_mode;
    if (backend_.name() != "cpu") return choice_on_gpu(backend_, call);
    return choose_gemm(call, options_.threads).id;
  }

  std::vector<std::int64_t> leading_dimensions() const override {
    const GemmCase& set = *sets_.front();
    return {set.a().ld(), set.b().ld(), set.c().ld()};
  }

  double flops() const override { return flops_; }
  double bytes() const override { return bytes_; }
  bool counts_flops() const override { return true; }

 private:
  /// The ceiling of a matrix-vector product: the rate at which its operands can be read, in FLOP/s.
  WorkloadCeiling reading_ceiling() const {
    const std::int64_t size = input_bytes(options_.dtype);
    std::vector<Region> regions;
    for (const auto& set : sets_) {
      const GemmCall call = set->call();
      regions.push_back({call.a.data, call.m * call.k * size});
      regions.push_back({call.b.data, call.k * call.n * size});
    }
    WorkloadCeiling found{"read", {read_ceiling(regions, 1)}};
    if (options_.threads > 1) found.variants.push_back(read_ceiling(regions, options_.threads));
    for (CeilingBatch& variant : found.variants) {
      variant.work = flops_ * static_cast<double>(std::ssize(sets_));
    }
    return found;
  }

  WorkloadOptions options_;
  const Backend& backend_;
  double flops_;
  double bytes_;
  std::vector<std::unique_ptr<GemmCase>> sets_;
  std::optional<ExactElements> exact_;  // of the first set
};

// A dot product or a sum.
class DotWorkload final : public Workload {
 public:
  DotWorkload(std::int64_t n, bool is_sum, const WorkloadOptions& options, const Backend& backend)
      : options_(options),
        backend_(backend),
        n_(static_cast<double>(n)),
        vectors_(is_sum ? 1 : 2),
        element_bytes_(static_cast<std::int64_t>(input_bytes(options.dtype))) {
    DotSpec spec;
    spec.sum = is_sum;
    spec.dtype = options.dtype;
    spec.n = n;
    const std::int64_t count = count_sets(bytes(), options.cold, backend);
    for (std::int64_t i = 0; i < count; ++i) {
      spec.seed = static_cast<std::uint64_t>(i) + 1;
      sets_.push_back(std::make_unique<DotCase>(spec));
    }
  }

  Bound bind(const Contender& contender) override {
    std::vector<Bound> bound;
    for (const auto& set : sets_) {
      bound.push_back(contender.bind(set->call(), options_.threads, &result_));
    }
    return rotate(std::move(bound));
  }

  Verified verify(const Contender& contender) override {
    const Verdict verdict = rung::verify(*sets_.front(), [&](const DotCall& call) {
      contender.bind(call, options_.threads, &result_).batch.call();
      return value();
    });
    sets_.front()->fill();
    return {verdict};
  }

  // Reads the same operands as the contenders or, on a GPU, the same number of bytes. Waking
  // threads does not pay off for small operands, so one thread is measured as well.
  WorkloadCeiling ceiling() const override {
    if (backend_.name() != "cpu") {
      const auto all_bytes = static_cast<std::int64_t>(bytes()) * std::ssize(sets_);
      return gpu_read_ceiling(backend_, all_bytes);
    }
    std::vector<Region> regions;
    for (const auto& set : sets_) {
      const DotCall call = set->call();
      regions.push_back({call.x, call.n * element_bytes_});
      if (call.y != nullptr) regions.push_back({call.y, call.n * element_bytes_});
    }
    WorkloadCeiling found{"read", {read_ceiling(regions, 1)}};
    if (options_.threads > 1) found.variants.push_back(read_ceiling(regions, options_.threads));
    return found;
  }

  std::size_t operand_sets() const override { return sets_.size(); }
  std::string library_choice() const override {
    const DotCall call = sets_.front()->call();
    if (backend_.name() != "cpu") return choice_on_gpu(backend_, call);
    return choose_dot(call, DotMode::deterministic, options_.threads).id;
  }

  std::vector<std::int64_t> leading_dimensions() const override { return {}; }

  double flops() const override { return vectors_ * n_; }
  double bytes() const override { return vectors_ * n_ * static_cast<double>(element_bytes_); }
  bool counts_flops() const override { return false; }

 private:
  union Sum {
    double f64 = 0;
    float f32;
    std::uint32_t i32;
  };

  double value() const {
    switch (options_.dtype) {
      case Dtype::f64: return result_.f64;
      case Dtype::i32: return result_.i32;
      default: return static_cast<double>(result_.f32);
    }
  }

  WorkloadOptions options_;
  const Backend& backend_;
  double n_;
  double vectors_;
  std::int64_t element_bytes_;
  std::vector<std::unique_ptr<DotCase>> sets_;
  Sum result_;
};

}  // namespace

std::unique_ptr<Workload> make_workload(const std::string& op, const Size& size,
                                        const WorkloadOptions& options, const Backend& backend) {
  if (op == "gemm" && options.groups > 0) return make_grouped_workload(size, options, backend);
  if (op == "gemm" &&
      (options.epilogue != EpilogueParts{} || options.block_scales || options.weight_bits > 0)) {
    return make_epilogue_workload(size, options, backend);
  }
  if (op == "gemm") return std::make_unique<GemmWorkload>(size, options, backend);
  if (op == "dot" || op == "sum") {
    return std::make_unique<DotWorkload>(size.n, op == "sum", options, backend);
  }
  throw std::invalid_argument("no workload for op '" + op + "'");
}

}  // namespace rung
