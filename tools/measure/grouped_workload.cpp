#include "tools/measure/grouped_workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "backends/cuda/cuda.hpp"
#include "backends/cuda/gpu.hpp"
#include "core/batch.hpp"
#include "core/bound.hpp"
#include "core/grouped.hpp"
#include "core/integers.hpp"
#include "core/operand.hpp"
#include "core/random.hpp"
#include "rung/types.hpp"
#include "select/cuda/select.hpp"
#include "tools/measure/on_gpu.hpp"

namespace rung {
namespace {

constexpr std::uint64_t seed_of_a = 1, seed_of_b = 2, seed_of_order = 3;
constexpr std::uint64_t seed_of_a_scales = 4, seed_of_b_scales = 5;

/// The number of scale blocks along an extent.
constexpr std::int64_t blocks(std::int64_t extent) { return ceil_div(extent, 128); }

/// The first row of each group.
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
        c_(output_type(options.dtype), size.m, size.n, size.n, 0),
        a_scales_(Dtype::f32, blocks(size.k), size.m, size.m, 0),
        b_scales_(Dtype::f32, options.groups * blocks(size.n), blocks(size.k), blocks(size.k), 0) {
    fill(Values::reals);
  }

  Bound bind(const Contender& contender) override {
    if (!options_.block_scales) return contender.bind_groups(call(), options_.threads);
    return contender.bind_scaled_groups(call(), scales(), options_.threads);
  }

  /// Verifies the first, the last and one intermediate row of each group with small integers, whose
  /// sums are exact. Rows at a boundary would show elements of adjacent groups.
  Verified verify(const Contender& contender) override {
    fill(Values::integers);
    bind(contender).batch.call();
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
    if (gpu == nullptr || options_.block_scales)
      return "";  // groups with block scales have only
                  // one kernel
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
    return bytes(a_, in) + bytes(b_, in) + bytes(c_, output_bytes(options_.dtype)) +
           options_.block_scales * (bytes(a_scales_, 4) + bytes(b_scales_, 4));
  }
  bool counts_flops() const override { return true; }

 private:
  std::int64_t ld_of_b() const { return options_.b_transposed ? size_.k : size_.n; }

  void fill(Values values) {
    a_.fill(values, seed_of_a);
    b_.fill(values, seed_of_b);
    a_scales_.fill(values, seed_of_a_scales);
    b_scales_.fill(values, seed_of_b_scales);
    c_.poison();
  }

  GroupScales scales() const {
    const auto transposed = [](const Operand& operand) {
      return AnyMatrix<const void*>{operand.data(), 1, operand.ld(), operand.storage()};
    };
    GroupScales scales = {transposed(a_scales_), transposed(b_scales_)};
    scales.b.batch_stride = blocks(size_.n) * blocks(size_.k);
    return scales;
  }

  /// The product of the scales of element (row, k) of A (rows of all groups) and of element (k,
  /// col) of the group's B.
  double scale(std::int64_t group, std::int64_t row, std::int64_t k, std::int64_t col) const {
    const auto at = [](const Operand& scales, std::int64_t i, std::int64_t j) {
      return static_cast<double>(static_cast<const float*>(scales.data())[i * scales.ld() + j]);
    };
    return at(a_scales_, k / 128, row) *
           at(b_scales_, group * blocks(size_.n) + col / 128, k / 128);
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

  /// Element (row, col) of a group's product.
  template <class In, class Out>
  Wide<In> sum_of(const Gemm<In, Out>& g, std::int64_t group, std::int64_t row,
                  std::int64_t col) const {
    constexpr std::int64_t block = 128;
    Wide<In> sum = 0;
    for (std::int64_t k0 = 0; k0 < g.k; k0 += block) {
      Wide<In> part = 0;
      for (std::int64_t k = k0; k < std::min(g.k, k0 + block); ++k) {
        part += widen(g.a(row, k)) * widen(g.b(k, col));
      }
      if (options_.block_scales) {
        const double scaled =
            static_cast<double>(part) * scale(group, offsets_[group] + row, k0, col);
        part = static_cast<Wide<In>>(scaled);
      }
      sum += part;
    }
    return sum;
  }

  /// True if the difference is within the rounding error of float sums.
  static bool is_near(auto got, auto expected) {
    return std::abs(static_cast<double>(got) - static_cast<double>(expected)) <=
           0x1p-20 * std::abs(static_cast<double>(expected));
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
          const Wide<In> sum = sum_of(g, group, row, col);
          const Wide<In> expected = widen(static_cast<Out>(static_cast<Scalar<Out>>(sum)));
          const Wide<In> got = widen(g.c(row, col));
          if (got == expected || (options_.block_scales && is_near(got, expected))) continue;
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
  Operand a_scales_, b_scales_;  // transposed, as without groups
};

}  // namespace

std::unique_ptr<Workload> make_grouped_workload(const Size& size, const WorkloadOptions& options,
                                                const Backend& backend) {
  return std::make_unique<GroupedWorkload>(size, options, backend);
}

}  // namespace rung
