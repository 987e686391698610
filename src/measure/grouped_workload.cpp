#include "measure/grouped_workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "backends/cuda/cuda.hpp"
#include "backends/cuda/gpu.hpp"
#include "core/bound.hpp"
#include "core/grouped.hpp"
#include "core/operand.hpp"
#include "core/random.hpp"
#include "library/cuda/select.hpp"

namespace rung {
namespace {

constexpr std::uint64_t seed_of_a = 1, seed_of_b = 2, seed_of_order = 3;

/// Where each group's rows begin.
std::vector<std::int32_t> offsets_of(std::int64_t tokens, std::int64_t groups, bool zipf) {
  std::vector<double> weights;
  for (std::int64_t i = 0; i < groups; ++i) {
    weights.push_back(zipf ? 1 / static_cast<double>(i + 1) : 1);
  }
  for (std::int64_t i = groups - 1; i > 0; --i) {
    std::swap(weights[i], weights[random_below(i + 1, seed_of_order, i)]);
  }
  double all = 0, before = 0;
  for (const double weight : weights) all += weight;
  std::vector<std::int32_t> offsets = {0};
  for (const double weight : weights) {
    before += weight;
    offsets.push_back(
        static_cast<std::int32_t>(std::llround(static_cast<double>(tokens) * before / all)));
  }
  return offsets;
}

class GroupedWorkload final : public Workload {
 public:
  GroupedWorkload(const Size& size, const WorkloadOptions& options, const Backend& backend)
      : size_(size),
        options_(options),
        backend_(backend),
        offsets_(offsets_of(size.m, options.groups, options.zipf)),
        a_(options.dtype, size.m, size.k, size.k, 0),
        b_(options.dtype, options.groups * (options.b_transposed ? size.n : size.k), ld_of_b(),
           ld_of_b(), 0),
        c_(output_type(options.dtype), size.m, size.n, size.n, 0) {
    fill(Values::reals);
  }

  Bound bind(const Contender& contender) override {
    return contender.bind_groups(call(), options_.threads);
  }

  /// Of each group, its first and its last row and one between them, on small integers, whose sums
  /// are exact; a row at a boundary would show a neighbour's.
  Verified verify(const Contender& contender) override {
    fill(Values::integers);
    contender.bind_groups(call(), options_.threads).batch.call();
    const Verdict verdict = visit(
        options_.dtype, [&]<class In, class Out>(Elements<In, Out>) { return check<In, Out>(); });
    fill(Values::reals);
    return {verdict};
  }

  WorkloadCeiling ceiling() const override {
    return gpu_multiply_add_ceiling(backend_, options_.dtype);
  }
  std::size_t operand_sets() const override { return 1; }
  std::string library_choice() const override {
    const cuda::Gpu* const gpu = gpu_of(backend_);
    if (gpu == nullptr) return "";
    const auto choice = choose_cuda_groups(call(), gpu->target().arch);
    return choice ? std::string(choice->id) : "";
  }
  std::vector<std::int64_t> leading_dimensions() const override {
    return {a_.ld(), b_.ld(), c_.ld()};
  }
  double flops() const override { return 2 * size_.volume(); }
  double bytes() const override {
    const auto bytes = [](const Operand& operand, std::size_t element) {
      return static_cast<double>(operand.rows()) * static_cast<double>(operand.cols() * element);
    };
    const std::size_t in = input_bytes(options_.dtype);
    return bytes(a_, in) + bytes(b_, in) + bytes(c_, output_bytes(options_.dtype));
  }
  bool counts_flops() const override { return true; }

 private:
  std::int64_t ld_of_b() const { return options_.b_transposed ? size_.k : size_.n; }

  void fill(Values values) {
    a_.fill(values, seed_of_a);
    b_.fill(values, seed_of_b);
    c_.poison();
  }

  GroupedCall call() const {
    const std::int64_t ld = ld_of_b();
    return {{.dtype = options_.dtype,
             .m = size_.m,
             .n = size_.n,
             .k = size_.k,
             .alpha = 1,
             .a = {a_.data(), size_.k, 1, a_.storage()},
             .b = {b_.data(), options_.b_transposed ? 1 : ld, options_.b_transposed ? ld : 1,
                   b_.storage(), size_.n * size_.k},
             .beta = 0,
             .c = {c_.data(), size_.n, 1, c_.storage()},
             .batch = options_.groups},
            {offsets_.data(), false}};
  }

  template <class In, class Out>
  Verdict check() const {
    if (const auto place = c_.broken_guard()) return wrong("wrote around C: " + *place);
    for (std::int64_t group = 0; group < options_.groups; ++group) {
      const GemmCall one = group_of(call(), group);
      if (one.m == 0) continue;
      const Gemm<In, Out> g = one.typed<In, Out>();
      for (const std::int64_t row : {std::int64_t{0}, g.m / 2, g.m - 1}) {
        for (std::int64_t col = 0; col < g.n; ++col) {
          Wide<In> sum = 0;
          for (std::int64_t k = 0; k < g.k; ++k) sum += widen(g.a(row, k)) * widen(g.b(k, col));
          const Wide<In> expected = widen(static_cast<Out>(static_cast<Scalar<Out>>(sum)));
          const Wide<In> got = widen(g.c(row, col));
          if (got == expected) continue;
          return wrong(fmt::format("group {}: C({}, {}) is {}, expected {}", group, row, col, got,
                                   expected));
        }
      }
    }
    return {.right = true, .max_error_ratio = 0, .message = ""};
  }

  Size size_;
  WorkloadOptions options_;
  const Backend& backend_;
  std::vector<std::int32_t> offsets_;
  Operand a_, b_, c_;
};

}  // namespace

std::unique_ptr<Workload> make_grouped_workload(const Size& size, const WorkloadOptions& options,
                                                const Backend& backend) {
  return std::make_unique<GroupedWorkload>(size, options, backend);
}

}  // namespace rung
