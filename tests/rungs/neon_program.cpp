// gemm/cpu/dot_products on Arm, run by neon_test.py under an emulator. Exits with 1 if a product
// is wrong, or if the CPU lacks the instruction set RUNG_ISA.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "core/random.hpp"
#include "device/cpu/dot_kernels.hpp"
#include "device/cpu/machine.hpp"
#include "device/cpu/rung.hpp"

namespace rung {

extern const cpu::GemmRung gemm_cpu_dot_products;

namespace {

// The program uses only types for which dot_products has kernels.
struct NotReached {
  template <class In, class Out>
  static void run(const Gemm<In, Out>&, int) {
    std::abort();
  }
};

struct Shape {
  std::int64_t m, n, k;
};

template <class In>
In element(std::uint64_t index) {
  const auto value = static_cast<int>(random_bits(7, index) % 255) - 127;
  if constexpr (std::is_same_v<In, bfloat16>) return bfloat16(static_cast<float>(value) / 96);
  return static_cast<In>(value == -127 ? -128 : value);
}

double value_of(std::int8_t element) { return element; }
double value_of(bfloat16 element) { return static_cast<float>(element); }

/// bfdot rounds three times per step, each time by less than one unit in the last place. Sums of
/// int8 are exact.
template <class In>
double tolerance(std::int64_t k, double magnitude) {
  if (std::is_same_v<In, std::int8_t>) return 0;
  return std::ldexp(static_cast<double>(2 * k + 8) * magnitude, -23);
}

template <class In, class Out>
bool is_right(Shape shape, bool a_transposed, bool b_transposed, int threads) {
  const auto [m, n, k] = shape;
  std::vector<In> a(static_cast<std::size_t>(m * k)), b(static_cast<std::size_t>(k * n));
  std::vector<Out> c(static_cast<std::size_t>(m * n), Out{3});
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = element<In>(i);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = element<In>(i + (1u << 20));
  const Gemm<In, Out> g = {m,
                           n,
                           k,
                           Out{2},
                           {a.data(), a_transposed ? 1 : k, a_transposed ? m : 1},
                           {b.data(), b_transposed ? 1 : n, b_transposed ? k : 1},
                           Out{5},
                           {c.data(), n, 1}};
  gemm_cpu_dot_products.function<In, Out>()(g, threads);
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 15, magnitude = 15;
      for (std::int64_t l = 0; l < k; ++l) {
        const double product = 2 * value_of(g.a(i, l)) * value_of(g.b(l, j));
        sum += product;
        magnitude += std::abs(product);
      }
      const double got = std::is_same_v<Out, float>
                             ? static_cast<double>(g.c(i, j))
                             : static_cast<double>(static_cast<std::int32_t>(g.c(i, j)));
      if (std::abs(got - sum) <= tolerance<In>(k, magnitude)) continue;
      std::printf("%dx%dx%d%s%s: C(%d, %d) is %g, not %g\n", static_cast<int>(m),
                  static_cast<int>(n), static_cast<int>(k), a_transposed ? " A^T" : "",
                  b_transposed ? " B^T" : "", static_cast<int>(i), static_cast<int>(j), got, sum);
      return false;
    }
  }
  return true;
}

template <class In, class Out>
bool all_right() {
  bool right = cpu::dot_kernels<In, Out>() != nullptr;
  for (const Shape shape : {Shape{1, 1, 1},
                            {3, 5, 7},
                            {14, 8, 64},
                            {17, 9, 33},
                            {29, 70, 130},
                            {23, 1, 131},
                            {9, 3, 40}}) {
    for (int form = 0; form < 8; ++form) {
      right &= is_right<In, Out>(shape, form & 1, form & 2, form & 4 ? 2 : 1);
    }
  }
  return right;
}

}  // namespace

extern const cpu::GemmRung gemm_cpu_cache_blocks = cpu::gemm_rung<NotReached>();

}  // namespace rung

int main() {
  const std::string_view isa = rung::cpu::name(rung::cpu::machine().isa);
  const char* const wish = std::getenv("RUNG_ISA");
  std::printf("%.*s\n", static_cast<int>(isa.size()), isa.data());
  bool right = wish != nullptr && isa == wish && rung::all_right<std::int8_t, std::uint32_t>();
  if (isa == "neon_bf16") right = rung::all_right<rung::bfloat16, float>() && right;
  return right ? 0 : 1;
}
