// rung::gemm of bfloat16 and float: on the GPU by three exact products (gemm/cuda/split_bf16), and as a
// product of floats there and on the CPU.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "fixture.hpp"
#include "library/cuda/mixed.hpp"
#include "rung/rung.h"

namespace rung {
namespace {

using Floats = std::vector<float>;
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr double u = 0x1p-24;

/// Row-major A and B. Elements that are converted to bfloat16 are exact in it.
struct Problem {
  std::int64_t m, n, k;
  bool a_is_narrow;
  Floats a, b;

  float& of_a(std::int64_t row, std::int64_t l) { return a[row * k + l]; }
  float& of_b(std::int64_t l, std::int64_t col) { return b[l * n + col]; }
};

using Element = std::function<float(std::mt19937&, std::int64_t line, std::int64_t k)>;

float normal(std::mt19937& random) { return std::normal_distribution<float>()(random); }

Problem filled(std::int64_t m, std::int64_t n, std::int64_t k, bool a_is_narrow,
               const Element& element) {
  std::mt19937 random(7);
  Problem p{m, n, k, a_is_narrow, Floats(m * k), Floats(k * n)};
  const auto make = [&](bool is_narrow, std::int64_t line, std::int64_t l) {
    const float x = element(random, line, l);
    return is_narrow ? static_cast<float>(bfloat16(x)) : x;
  };
  for (std::int64_t i = 0; i < m * k; ++i) p.a[i] = make(a_is_narrow, i / k, i % k);
  for (std::int64_t i = 0; i < k * n; ++i) p.b[i] = make(!a_is_narrow, i % n, i / n);
  return p;
}

/// The layout of operands in memory.
struct Placed {
  Order a = Order::row_major, b = Order::row_major, c = Order::row_major;
  std::int64_t padding = 0;  // added to each leading dimension
  float alpha = 1, beta = 0;
};

template <class T>
std::vector<T> stored(const Floats& values, std::int64_t rows, std::int64_t cols, Order order,
                      std::int64_t padding) {
  const bool by_rows = order == Order::row_major;
  const std::int64_t lines = by_rows ? rows : cols, length = by_rows ? cols : rows;
  std::vector<T> result(lines * (length + padding), T(nan));
  for (std::int64_t line = 0; line < lines; ++line) {
    for (std::int64_t i = 0; i < length; ++i) {
      result[line * (length + padding) + i] =
          T(values[by_rows ? line * cols + i : i * cols + line]);
    }
  }
  return result;
}

template <class T>
MatrixView<T> view(T* data, std::int64_t rows, std::int64_t cols, Order order,
                   std::int64_t padding) {
  return {data, rows, cols, (order == Order::row_major ? cols : rows) + padding, order};
}

/// C in row-major order, without padding.
Floats dense(const Floats& c, std::int64_t m, std::int64_t n, const Placed& placed) {
  const bool by_rows = placed.c == Order::row_major;
  const std::int64_t ld = (by_rows ? n : m) + placed.padding;
  Floats result(m * n);
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) result[i * n + j] = c[by_rows ? i * ld + j : j * ld + i];
  }
  return result;
}

/// The old element (i, j) of C.
float old(std::int64_t i, std::int64_t j) { return static_cast<float>((i * 3 + j * 5) % 7 - 3); }

class Mixed : public CudaLibrary {
 protected:
  enum class By { parts, library, floats };

  Floats product(const Problem& p, By by, const Placed& placed = {},
                 const CudaOptions& options = {}) {
    if (by == By::floats) return run<float, float>(p, by, placed, options);
    return p.a_is_narrow ? run<bfloat16, float>(p, by, placed, options)
                         : run<float, bfloat16>(p, by, placed, options);
  }

  /// The result of the mixed product, or of the equivalent product of floats.
  Floats on_cpu(const Problem& p, bool is_mixed, const Placed& placed) {
    if (!is_mixed) return cpu<float, float>(p, placed);
    return p.a_is_narrow ? cpu<bfloat16, float>(p, placed) : cpu<float, bfloat16>(p, placed);
  }

 private:
  static Floats start(const Problem& p, const Placed& placed) {
    Floats c(p.m * p.n);
    for (std::int64_t i = 0; i < p.m * p.n; ++i) {
      c[i] = placed.beta == 0 ? nan : old(i / p.n, i % p.n);
    }
    return stored<float>(c, p.m, p.n, placed.c, placed.padding);
  }

  template <class A, class B>
  Floats run(const Problem& p, By by, const Placed& placed, const CudaOptions& options) {
    const A* const a = on_device(stored<A>(p.a, p.m, p.k, placed.a, placed.padding));
    const B* const b = on_device(stored<B>(p.b, p.k, p.n, placed.b, placed.padding));
    const Floats before = start(p, placed);
    float* const c = on_device(before);
    const auto of_a = view(a, p.m, p.k, placed.a, placed.padding);
    const auto of_b = view(b, p.k, p.n, placed.b, placed.padding);
    const auto of_c = view(c, p.m, p.n, placed.c, placed.padding);
    if (by != By::parts) {
      gemm(placed.alpha, of_a, of_b, placed.beta, of_c, default_stream, options);
    } else if constexpr (!std::is_same_v<A, B>) {
      const cuda::WorkspaceSource workspace{cuda::current_context(), nullptr, nullptr, 0};
      EXPECT_TRUE(cuda::multiply_parts(workspace,
                                       canonical(placed.alpha, of_a, of_b, placed.beta, of_c), 4));
    }
    return dense(from_device(c, before.size()), p.m, p.n, placed);
  }

  template <class A, class B>
  static Floats cpu(const Problem& p, const Placed& placed) {
    const auto a = stored<A>(p.a, p.m, p.k, placed.a, placed.padding);
    const auto b = stored<B>(p.b, p.k, p.n, placed.b, placed.padding);
    Floats c = start(p, placed);
    gemm(placed.alpha, view(a.data(), p.m, p.k, placed.a, placed.padding),
         view(b.data(), p.k, p.n, placed.b, placed.padding), placed.beta,
         view(c.data(), p.m, p.n, placed.c, placed.padding), {.threads = 2});
    return dense(c, p.m, p.n, placed);
  }
};

/// Computes each element by a chain of FMAs in float.
Floats plain(const Problem& p) {
  Floats c(p.m * p.n);
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      for (std::int64_t l = 0; l < p.k; ++l) {
        c[i * p.n + j] = std::fma(p.a[i * p.k + l], p.b[l * p.n + j], c[i * p.n + j]);
      }
    }
  }
  return c;
}

struct ProductError {
  double normwise = 0;       // ||C - AB|| / ||AB||
  double componentwise = 0;  // maximum of |C - AB| / |A||B|, in u
  double of_bound = 0;       // maximum of |C - AB| / bound
};

ProductError error_of(const Floats& c, const Problem& p) {
  ProductError error;
  long double squared_error = 0, squared = 0;
  const auto k = static_cast<double>(p.k);
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      long double exact = 0, sizes = 0;
      for (std::int64_t l = 0; l < p.k; ++l) {
        const long double term = static_cast<long double>(p.a[i * p.k + l]) * p.b[l * p.n + j];
        exact += term;
        sizes += std::abs(term);
      }
      const long double off = std::abs(c[i * p.n + j] - exact);
      const long double least = k * 0x1p-149L;
      squared_error += off * off;
      squared += exact * exact;
      const long double bound = (k / 4 + 160) * u * sizes + least;
      error.of_bound = std::max(error.of_bound, static_cast<double>(off / bound));
      if (sizes > least) {
        error.componentwise = std::max(error.componentwise, static_cast<double>(off / sizes / u));
      }
      if (!std::isfinite(c[i * p.n + j])) error.of_bound = infinity;
    }
  }
  error.normwise = static_cast<double>(std::sqrt(squared_error / squared));
  return error;
}

struct Family {
  const char* name;
  Element element;
};

float between(std::mt19937& random, float from, float to) {
  return std::uniform_real_distribution<float>(from, to)(random);
}

const Family families[] = {
    {"normal", [](auto& random, auto, auto) { return normal(random); }},
    {"uniform", [](auto& random, auto, auto) { return between(random, 0, 1); }},
    {"just above one", [](auto& random, auto, auto) { return between(random, 1, 1 + 0x1p-7f); }},
    {"rows and columns by 10^+-12",
     [](auto& random, std::int64_t line, auto) {
       return normal(random) * static_cast<float>(std::pow(10, line % 25 - 12));
     }},
    {"elements by 2^+-40",
     [](auto& random, auto, auto) { return normal(random) * std::exp2(between(random, -40, 40)); }},
    {"by 2^-110 in turn",  // parts are subnormal
     [](auto& random, std::int64_t line, auto) {
       return normal(random) * (line % 3 == 1 ? 0x1p-110f : 1.0f);
     }},
    {"by 2^100 and 2^-135 in turn",  // subnormal times large
     [](auto& random, std::int64_t line, std::int64_t k) {
       return normal(random) * (line % 5 == 2 ? (k % 2 == 0 ? 0x1p-135f : 0x1p-70f) : 0x1p100f);
     }},
    {"cancelling",
     [](auto& random, auto, std::int64_t k) {
       return (k % 2 == 0 ? 1.0f : -1.0f) + normal(random) * 0x1p-16f;
     }},
};

TEST_F(Mixed, ErrorsOfPartsAreAtMostThoseOfFloats) {
  for (const bool a_is_narrow : {true, false}) {
    for (const auto& [name, element] : families) {
      const Problem p = filled(37, 41, 1090, a_is_narrow, element);
      const ProductError float_error = error_of(plain(p), p);
      if (!std::isfinite(float_error.of_bound)) continue;  // the float product overflows
      const ProductError ours = error_of(product(p, By::parts), p);
      std::printf("%-28s normwise %.1e (float %.1e), componentwise %.2f u (float %.1f u)\n", name,
                  ours.normwise, float_error.normwise, ours.componentwise,
                  float_error.componentwise);
      EXPECT_LE(ours.of_bound, 1) << name;
      EXPECT_LE(ours.normwise, std::max(float_error.normwise, u)) << name;
      EXPECT_LE(ours.componentwise, std::max(float_error.componentwise, 8.0)) << name;
    }
  }
}

TEST_F(Mixed, PartsTakeAnyLayoutSizeAndScale) {
  constexpr std::int64_t sizes[][3] = {{1, 1, 1}, {130, 129, 200}, {70, 257, 64}, {3, 140, 1300}};
  const auto integers = [](auto& random, auto, auto) {
    return static_cast<float>(static_cast<int>(random() % 9) - 4);
  };
  int number = 0;
  for (const auto& [m, n, k] : sizes) {
    for (int layout = 0; layout < 8; ++layout, ++number) {
      const auto order = [&](int bit) {
        return (layout >> bit & 1) != 0 ? Order::col_major : Order::row_major;
      };
      const Placed placed = {order(0),
                             order(1),
                             order(2),
                             number % 3,
                             number % 2 == 0 ? 1.0f : -2.0f,
                             number % 4 < 2 ? 0.0f : 3.0f};
      const Problem p = filled(m, n, k, number % 5 < 3, integers);
      const Floats got = product(p, By::parts, placed), exact = plain(p);
      for (std::int64_t i = 0; i < m * n; ++i) {
        const float before = placed.beta == 0 ? 0 : old(i / n, i % n);
        ASSERT_EQ(got[i], placed.alpha * exact[i] + placed.beta * before)
            << m << " " << n << " " << k << " " << layout << " " << i;
      }
    }
  }
}

/// Infinities and NaN would lose their sign and payload if multiplied by parts that are 0.
TEST_F(Mixed, InfinitiesAndNanOfPartsStayInTheirRowsAndColumns) {
  for (const bool a_is_narrow : {true, false}) {
    Problem p =
        filled(70, 35, 130, a_is_narrow, [](auto& random, auto, auto) { return normal(random); });
    p.of_a(3, 7) = infinity;
    p.of_a(12, 100) = -infinity;
    p.of_a(20, 0) = infinity, p.of_a(20, 1) = -infinity;
    p.of_a(69, 129) = nan;
    p.of_b(7, 4) = 0;  // infinity times 0
    p.of_b(30, 9) = -infinity;
    p.of_b(31, 34) = nan;
    const Floats expected = plain(p), got = product(p, By::parts);
    for (std::int64_t i = 0; i < p.m * p.n; ++i) {
      SCOPED_TRACE(testing::Message() << "C(" << i / p.n << ", " << i % p.n << ")");
      if (std::isnan(expected[i])) {
        EXPECT_TRUE(std::isnan(got[i])) << got[i];
      } else if (std::isinf(expected[i])) {
        EXPECT_EQ(got[i], expected[i]);
      } else {
        EXPECT_NEAR(got[i], expected[i], 1e-4);
      }
    }
  }
}

TEST_F(Mixed, SmallProductsAndOtherModesAreThoseOfFloats) {
  const auto element = [](auto& random, auto, auto) { return normal(random); };
  for (const ComputeMode mode : {ComputeMode::standard, ComputeMode::split,
                                 ComputeMode::reproducible, ComputeMode::batch_invariant}) {
    for (const bool a_is_narrow : {true, false}) {
      const Problem p = filled(33, 20, 90, a_is_narrow, element);
      const Placed placed = {Order::col_major, Order::row_major, Order::col_major, 1, 2, -1};
      const CudaOptions options = {.compute_mode = mode};
      EXPECT_EQ(product(p, By::library, placed, options), product(p, By::floats, placed, options))
          << static_cast<int>(mode);
    }
  }
}

// If sums are rounded, their bits may depend on leading dimensions, and the widened operand has no
// padding. Integers are exact.
TEST_F(Mixed, OnTheCpuTheyAreThoseOfFloats) {
  const auto rounded = [](auto& random, auto, auto) { return normal(random); };
  const auto exact = [](auto& random, auto, auto) { return std::round(4 * normal(random)); };
  for (const bool a_is_narrow : {true, false}) {
    for (const Order order : {Order::row_major, Order::col_major}) {
      const Placed dense = {order, order, Order::row_major, 0, 2, -1};
      const Placed padded = {order, order, Order::row_major, 3, 2, -1};
      const Problem p = filled(61, 45, 700, a_is_narrow, rounded);
      EXPECT_EQ(on_cpu(p, true, dense), on_cpu(p, false, dense));
      const Problem q = filled(61, 45, 700, a_is_narrow, exact);
      EXPECT_EQ(on_cpu(q, true, padded), on_cpu(q, false, padded));
    }
  }
}

TEST_F(Mixed, ALargeProductGoesByPartsWhoseBitsAreOthers) {
  const Problem p =
      filled(256, 256, 6144, true, [](auto& random, auto, auto) { return normal(random); });
  const Placed k_major = {.b = Order::col_major};
  const Floats by_library = product(p, By::library, k_major);
  EXPECT_NE(by_library, product(p, By::floats, k_major));
  for (std::int64_t i = 0; i < p.m * p.n; i += 997) {
    double exact = 0;
    for (std::int64_t l = 0; l < p.k; ++l) {
      exact += double{p.a[i / p.n * p.k + l]} * double{p.b[l * p.n + i % p.n]};
    }
    EXPECT_NEAR(by_library[i], exact, 1e-4);
  }
}

TEST_F(Mixed, TheCallersWorkspaceMustHaveRoom) {
  const Problem p =
      filled(33, 20, 90, true, [](auto& random, auto, auto) { return normal(random); });
  const Floats expected = product(p, By::library);
  char* const workspace = on_device(std::vector<char>(1 << 20));
  EXPECT_EQ(product(p, By::library, {}, {.workspace = workspace, .workspace_bytes = 1 << 20}),
            expected);
  const auto refused = refusal(
      [&] { product(p, By::library, {}, {.workspace = workspace, .workspace_bytes = 1024}); });
  EXPECT_EQ(refused.first, Status::invalid_argument);
  EXPECT_EQ(
      refused.second,
      "rung: gemm: the workspace has 1024 bytes; to widen the operand of bf16 to f32, it must "
      "have at least 12800");
}

TEST_F(Mixed, OfTheCInterfaceIsTheSame) {
  const Problem p = filled(5, 7, 9, true, [](auto& random, auto, auto) { return normal(random); });
  const auto a = stored<bfloat16>(p.a, p.m, p.k, Order::row_major, 0);
  Floats b = p.b, c(p.m * p.n);
  const std::int64_t of_a[] = {p.m, p.k}, of_b[] = {p.k, p.n}, of_c[] = {p.m, p.n};
  const rung_tensor ta = {
      const_cast<bfloat16*>(a.data()), RUNG_DEVICE_CPU, 0, 2, RUNG_DTYPE_BF16, of_a, nullptr};
  const rung_tensor tb = {b.data(), RUNG_DEVICE_CPU, 0, 2, RUNG_DTYPE_F32, of_b, nullptr};
  rung_tensor tc = {c.data(), RUNG_DEVICE_CPU, 0, 2, RUNG_DTYPE_F32, of_c, nullptr};
  EXPECT_EQ(rung_gemm(&ta, &tb, &tc, 1, 0, nullptr), RUNG_OK) << rung_last_error();
  EXPECT_EQ(c, on_cpu(p, true, {}));
  tc.dtype = RUNG_DTYPE_BF16;
  EXPECT_EQ(rung_gemm(&ta, &tb, &tc, 1, 0, nullptr), RUNG_INVALID_ARGUMENT);
  EXPECT_STREQ(rung_last_error(),
               "rung: gemm: C is bf16; with A of bf16 and B of f32 it must be f32");
}

}  // namespace
}  // namespace rung
