#include "tools/measure/epilogue_workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "backends/cuda/cuda.hpp"
#include "backends/cuda/gpu.hpp"
#include "core/bound.hpp"
#include "core/chunks.hpp"
#include "core/dtype.hpp"
#include "core/integers.hpp"
#include "core/operand.hpp"
#include "select/cpu/select.hpp"
#include "select/cuda/select.hpp"
#include "tools/measure/bench_weights.hpp"
#include "tools/measure/on_gpu.hpp"

namespace rung {
namespace {

constexpr std::uint64_t seed_of_a = 1, seed_of_b = 2, seed_of_bias = 3, seed_of_residual = 4;
constexpr std::uint64_t seed_of_a_scales = 5, seed_of_b_scales = 6;

/// The number of scale blocks along an extent.
constexpr std::int64_t blocks(std::int64_t extent) { return ceil_div(extent, 128); }

double activated(Activation activation, double x) {
  constexpr double sqrt_2_over_pi = 0.7978845608028654;
  switch (activation) {
    case Activation::relu: return std::max(x, 0.0);
    case Activation::gelu_tanh:
      return x / 2 * (1 + std::tanh(sqrt_2_over_pi * (x + 0.044715 * x * x * x)));
    case Activation::gelu_erf: return x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
    case Activation::silu: return x / (1 + std::exp(-x));
    default: return x;
  }
}

class EpilogueWorkload final : public Workload {
 public:
  EpilogueWorkload(const Size& size, const WorkloadOptions& options, const Backend& backend)
      : size_(size),
        options_(options),
        backend_(backend),
        a_(options.dtype, options.a_transposed ? size.k : size.m,
           options.a_transposed ? size.m : size.k, options.a_transposed ? size.m : size.k, 0),
        b_(options.dtype, options.b_transposed ? size.n : size.k,
           options.b_transposed ? size.k : size.n, options.b_transposed ? size.k : size.n, 0),
        c_(output_type(options.dtype), size.m, size.n, size.n, 0),
        bias_(output_type(options.dtype), 1, size.n, size.n, 0),
        aux_(output_type(options.dtype), size.m, size.n, size.n, 0),
        residual_(output_type(options.dtype), size.m, size.n, size.n, 0),
        a_scales_(Dtype::f32, blocks(size.k), size.m, size.m, 0),
        b_scales_(Dtype::f32, blocks(size.n), blocks(size.k), round_up(blocks(size.k), 4), 0),
        weights_(size, options) {
    if (has_weights()) weights_.fill(b_, options.b_transposed);
    fill(Values::reals);
  }

  Bound bind(const Contender& contender) override {
    const CallWithEpilogue both = call();
    if (is_alone(contender)) return contender.bind(both.call, options_.threads);
    return contender.bind_epilogue(both, options_.threads);
  }

  /// Verifies some rows with small integers, whose sums are exact.
  Verified verify(const Contender& contender) override {
    fill(Values::integers);
    bind(contender).batch.call();
    const EpilogueParts parts = is_alone(contender) ? EpilogueParts{} : options_.epilogue;
    const bool scaled = !is_alone(contender) && options_.block_scales;
    const Verdict verdict =
        visit(options_.dtype, [&]<class In, class Out>(Elements<In, Out>) -> Verdict {
          if constexpr (std::is_integral_v<In>) {
            return wrong("integers have no epilogues here");
          } else {
            return check<In, Out>(parts, scaled);
          }
        });
    fill(Values::reals);
    return {verdict};
  }

  WorkloadCeiling ceiling() const override {
    return gpu_multiply_add_ceiling(backend_, options_.dtype);
  }
  std::size_t operand_sets() const override { return 1; }
  /// The library's choice for the product. Products with block scales have only one kernel.
  std::string library_choice() const override {
    if (options_.block_scales || has_weights()) return {};
    if (const cuda::Gpu* const gpu = gpu_of(backend_)) {
      return std::string(choose_cuda_gemm(call().call, gpu->target().arch).id);
    }
    return choose_gemm(call().call, options_.threads).id;
  }
  std::vector<std::int64_t> leading_dimensions() const override {
    return {a_.ld(), b_.ld(), c_.ld()};
  }
  double flops() const override { return 2 * size_.volume(); }
  double bytes() const override {
    const auto bytes = [](const Operand& operand, std::size_t element) {
      return static_cast<double>(operand.rows()) * static_cast<double>(operand.cols()) *
             static_cast<double>(element);
    };
    const std::size_t in = input_bytes(options_.dtype), out = output_bytes(options_.dtype);
    const EpilogueParts& parts = options_.epilogue;
    return bytes(a_, in) + (has_weights() ? weights_.bytes() : bytes(b_, in)) + bytes(c_, out) +
           parts.bias * bytes(bias_, out) + parts.aux * bytes(aux_, out) +
           parts.residual * bytes(residual_, out) +
           options_.block_scales * (bytes(a_scales_, 4) + bytes(b_scales_, 4));
  }
  bool counts_flops() const override { return true; }

 private:
  bool has_weights() const { return options_.weight_bits > 0; }
  /// True if a contender computes only the product, with a 16-bit B if there are weights.
  bool is_alone(const Contender& contender) const {
    return has_weights() ? !contender.has_packed_weights() : !contender.has_epilogues();
  }

  void fill(Values values) {
    a_.fill(values, seed_of_a);
    if (!has_weights()) b_.fill(values, seed_of_b);  // otherwise, weights_ fills it
    bias_.fill(values, seed_of_bias);
    residual_.fill(values, seed_of_residual);
    a_scales_.fill(values, seed_of_a_scales);
    b_scales_.fill(values, seed_of_b_scales);
    c_.poison();
    aux_.poison();
  }

  template <class Pointer>
  static AnyMatrix<Pointer> matrix(const Operand& operand, bool transposed, bool exists = true) {
    if (!exists) return {};
    return {operand.data(), transposed ? 1 : operand.ld(), transposed ? operand.ld() : 1,
            operand.storage()};
  }

  CallWithEpilogue call() const {
    const EpilogueParts& parts = options_.epilogue;
    return {.call = {.dtype = options_.dtype,
                     .m = size_.m,
                     .n = size_.n,
                     .k = size_.k,
                     .alpha = 1,
                     .a = matrix<const void*>(a_, options_.a_transposed),
                     .b = matrix<const void*>(b_, options_.b_transposed),
                     .beta = 0,
                     .c = matrix<void*>(c_, false)},
            .parts = parts,
            .bias = matrix<const void*>(bias_, false, parts.bias),
            .aux = matrix<void*>(aux_, false, parts.aux),
            .residual = matrix<const void*>(residual_, false, parts.residual),
            .a_scales = matrix<const void*>(a_scales_, true, options_.block_scales),
            .b_scales = matrix<const void*>(b_scales_, true, options_.block_scales),
            .packed = matrix<const void*>(weights_.memory(), false, has_weights()),
            .weights = weights_.packed()};
  }

  /// Tolerances include rounding to the type of C, and activations computed by tanh.approx, which
  /// peers use.
  template <class In, class Out>
  Verdict check(const EpilogueParts& parts, bool scaled) const {
    if (const auto place = c_.broken_guard()) return wrong("wrote around C: " + *place);
    const Gemm<In, Out> g = call().call.typed<In, Out>();
    const auto* const bias = static_cast<const Out*>(bias_.data());
    const auto* const residual = static_cast<const Out*>(residual_.data());
    constexpr double rounding = sizeof(Out) == 2 ? 0x1p-8 : 0x1p-20, of_activation = 0x1p-10;
    std::vector<double> sums(g.n);
    for (const std::int64_t row : {std::int64_t{0}, g.m / 2, g.m - 1}) {
      for_each_chunk(g.n, 16, [&](std::int64_t first, std::int64_t last, auto) {
        for (std::int64_t col = first; col < last; ++col) sums[col] = sum_of(g, row, col, scaled);
      });
      for (std::int64_t col = 0; col < g.n; ++col) {
        const double sum = sums[col] + (parts.bias ? static_cast<double>(widen(bias[col])) : 0.0);
        const double added =
            parts.residual ? static_cast<double>(widen(residual[row * g.n + col])) : 0.0;
        const double expected = activated(parts.activation, sum) + added;
        const auto got = static_cast<double>(widen(g.c(row, col)));
        const bool is_smooth = parts.activation > Activation::relu;
        const double allowed =
            rounding * std::abs(expected) + (is_smooth ? of_activation * std::abs(sum) : 0.0);
        if (std::abs(got - expected) <= allowed) continue;
        return wrong(fmt::format("C({}, {}) is {}, expected {}", row, col, got, expected));
      }
    }
    return {.right = true, .max_error_ratio = 0, .message = ""};
  }

  /// An element of the product.
  template <class In, class Out>
  double sum_of(const Gemm<In, Out>& g, std::int64_t row, std::int64_t col, bool scaled) const {
    double sum = 0;
    for (std::int64_t k = 0; k < g.k; ++k) {
      const double product = static_cast<double>(widen(g.a(row, k)) * widen(g.b(k, col)));
      sum += scaled ? product * scale(row, k, col) : product;
    }
    return sum;
  }

  /// The product of the scales of element (row, k) of A and element (k, col) of B.
  double scale(std::int64_t row, std::int64_t k, std::int64_t col) const {
    const auto at = [](const Operand& scales, std::int64_t i, std::int64_t j) {
      return static_cast<double>(static_cast<const float*>(scales.data())[i * scales.ld() + j]);
    };
    return at(a_scales_, k / 128, row) * at(b_scales_, col / 128, k / 128);
  }

  Size size_;
  WorkloadOptions options_;
  const Backend& backend_;
  Operand a_, b_, c_, bias_, aux_, residual_;
  Operand a_scales_, b_scales_;  // transposed, as required by cuBLASLt
  BenchWeights weights_;
};

}  // namespace

std::unique_ptr<Workload> make_epilogue_workload(const Size& size, const WorkloadOptions& options,
                                                 const Backend& backend) {
  return std::make_unique<EpilogueWorkload>(size, options, backend);
}

}  // namespace rung
