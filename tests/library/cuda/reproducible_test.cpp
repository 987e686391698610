// Mode reproducible: the CPU and the GPU give the same bits, for any shape around an element,
// layout, tile and number of threads; and the error is within its bound.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "backends/rungs/kernel_name.hpp"
#include "fixture.hpp"
#include "library/cuda/launch.hpp"
#include "select/cuda/select.hpp"

namespace rung {
namespace {

using Floats = std::vector<float>;
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr double u = 0x1p-24;

struct Problem {
  std::int64_t m, n, k;
  Floats a, b, c;  // row-major
  float alpha = 1, beta = 0;
};

using Element = std::function<float(std::mt19937&, std::int64_t line, std::int64_t k)>;

Problem filled(std::int64_t m, std::int64_t n, std::int64_t k, const Element& element) {
  std::mt19937 random(7);
  Problem p{m, n, k, Floats(m * k), Floats(k * n), Floats(m * n)};
  for (std::int64_t i = 0; i < m * k; ++i) p.a[i] = element(random, i / k, i % k);
  for (std::int64_t i = 0; i < k * n; ++i) p.b[i] = element(random, i % n, i / n);
  for (float& c : p.c) c = std::normal_distribution<float>()(random);
  return p;
}

float normal(std::mt19937& random) { return std::normal_distribution<float>()(random); }

struct Family {
  const char* name;
  Element element;
};

const Family families[] = {
    {"normal", [](auto& random, auto, auto) { return normal(random); }},
    {"uniform",
     [](auto& random, auto, auto) { return std::uniform_real_distribution<float>()(random); }},
    {"rows and columns by 10^+-12",
     [](auto& random, std::int64_t line, auto) {
       return normal(random) * static_cast<float>(std::pow(10, line % 25 - 12));
     }},
    {"exp(4 X), which no digits fit",
     [](auto& random, auto, auto) { return normal(random) * std::exp(4 * normal(random)); }},
    {"some rows that no digits fit",
     [](auto& random, std::int64_t line, std::int64_t k) {
       return normal(random) * (line % 5 == 3 && k == 2 ? 1e6f : 1.0f);
     }},
    {"cancelling",
     [](auto& random, auto, std::int64_t k) {
       return (k % 2 == 0 ? 1.0f : -1.0f) + normal(random) * 0x1p-18f;
     }},
    {"subnormal", [](auto& random, std::int64_t line,
                     auto) { return normal(random) * (line % 2 == 0 ? 0x1p-135f : 1.0f); }},
    {"ties and the largest digits",
     [](auto& random, std::int64_t line, auto) {
       const float sign = random() % 2 == 0 ? 1.0f : -1.0f;
       return sign *
              (random() % 2 == 0 ? 0x1.FEFEFEp0f
                                 : 1.0f + static_cast<float>(random() % 4) * 0x1p-23f) *
              (line % 3 == 0 ? 0x1p127f : 1.0f);
     }},
    {"zeros, infinities and NaN",
     [](auto& random, std::int64_t line, auto) {
       const auto dice = random() % 200;
       if (line % 4 == 1) return line % 8 == 1 ? 0.0f : -0.0f;
       if (line % 4 == 2 && dice < 2) return dice == 0 ? infinity : -infinity;
       if (line == 7 && dice < 2) return std::numeric_limits<float>::quiet_NaN();
       return normal(random);
     }},
};

std::vector<std::uint32_t> bits_of(const Floats& values) {
  std::vector<std::uint32_t> bits;
  for (const float value : values) bits.push_back(std::bit_cast<std::uint32_t>(value));
  return bits;
}

Floats on_cpu(const Problem& p, int threads = 1) {
  Floats c = p.c;
  gemm(p.alpha, row_major(p.a.data(), p.m, p.k), row_major(p.b.data(), p.k, p.n), p.beta,
       row_major(c.data(), p.m, p.n),
       {.threads = threads, .compute_mode = ComputeMode::reproducible});
  return c;
}

Floats transposed(const Floats& x, std::int64_t rows, std::int64_t cols) {
  Floats result(x.size());
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < cols; ++j) result[j * rows + i] = x[i * cols + j];
  }
  return result;
}

/// Rows [first, first + m) and columns [first, first + n) of the same product.
Problem part_of(const Problem& p, std::int64_t first, std::int64_t m, std::int64_t n) {
  Problem part{m, n, p.k, {}, {}, {}, p.alpha, p.beta};
  part.a.assign(p.a.begin() + first * p.k, p.a.begin() + (first + m) * p.k);
  for (std::int64_t i = 0; i < p.k * n; ++i) part.b.push_back(p.b[i / n * p.n + first + i % n]);
  for (std::int64_t i = 0; i < m * n; ++i) {
    part.c.push_back(p.c[(first + i / n) * p.n + first + i % n]);
  }
  return part;
}

Floats part_of(const Floats& c, std::int64_t columns, const Problem& part, std::int64_t first) {
  Floats result;
  for (std::int64_t i = 0; i < part.m * part.n; ++i) {
    result.push_back(c[(first + i / part.n) * columns + first + i % part.n]);
  }
  return result;
}

class CudaReproducible : public CudaLibrary {
 protected:
  /// Computes on the GPU, with A and B as they are or as column-major transposes.
  Floats on_gpu(const Problem& p, bool transposes = false) {
    const float* const a = on_device(transposes ? transposed(p.a, p.m, p.k) : p.a);
    const float* const b = on_device(transposes ? transposed(p.b, p.k, p.n) : p.b);
    float* const c = on_device(p.c);
    const CudaOptions options{.compute_mode = ComputeMode::reproducible};
    gemm(p.alpha, transposes ? col_major(a, p.m, p.k) : row_major(a, p.m, p.k),
         transposes ? col_major(b, p.k, p.n) : row_major(b, p.k, p.n), p.beta,
         row_major(c, p.m, p.n), default_stream, options);
    return from_device(c, p.c.size());
  }

  Floats by_tile(const Problem& p, int tile) {
    float* const c = on_device(p.c);
    const GemmCall call = {.dtype = Dtype::f32,
                           .m = p.m,
                           .n = p.n,
                           .k = p.k,
                           .alpha = p.alpha,
                           .a = {on_device(p.a), p.k, 1},
                           .b = {on_device(p.b), p.n, 1},
                           .beta = p.beta,
                           .c = {c, p.n, 1}};
    const cuda::WorkspaceSource workspace{cuda::current_context(), nullptr, nullptr, 0};
    cuda::launch_gemm(workspace, cuda::configured_gemm("gemm/cuda/digits", {.tile = tile}), call,
                      4);
    return from_device(c, p.c.size());
  }
};

TEST_F(CudaReproducible, TheGpuHasTheBitsOfTheCpu) {
  for (const Family& family : families) {
    Problem p = filled(150, 139, 300, family.element);
    const auto expected = bits_of(on_cpu(p));
    EXPECT_EQ(bits_of(on_gpu(p)), expected) << family.name;
    EXPECT_EQ(bits_of(on_gpu(p, true)), expected) << family.name << ", transposed";
    p.alpha = -0.3f;
    p.beta = 1.7f;
    EXPECT_EQ(bits_of(on_gpu(p)), bits_of(on_cpu(p))) << family.name << ", alpha and beta";
  }
}

TEST_F(CudaReproducible, NoTileAndNoOtherElementShowsInTheBits) {
  for (const Family& family : families) {
    const Problem p = filled(150, 139, 260, family.element);
    const Floats all = on_cpu(p);
    for (std::size_t tile = 0;
         tile < cuda::tiles_of(*cuda::find_gemm_rung("gemm/cuda/digits"), Dtype::f32).size();
         ++tile) {
      EXPECT_EQ(bits_of(by_tile(p, static_cast<int>(tile))), bits_of(all))
          << family.name << ", tile " << tile;
    }
    for (const std::int64_t first : {0, 70}) {
      const Problem part = part_of(p, first, 31, 1 + first / 2);
      const auto expected = bits_of(part_of(all, p.n, part, first));
      EXPECT_EQ(bits_of(on_gpu(part)), expected) << family.name;
      EXPECT_EQ(bits_of(on_cpu(part, 2)), expected) << family.name;
    }
  }
}

TEST_F(CudaReproducible, SlabsOfLongProductsAreAddedInOrder) {
  const std::int64_t k = 32768 + 100;
  Problem p = filled(3, 3, k, [=](auto& random, std::int64_t line, std::int64_t l) {
    // A row that does not fit into the digits.
    return normal(random) * (line == 1 && l == 5 ? 1e5f : 1.0f);
  });
  p.beta = 0.5f;
  EXPECT_EQ(bits_of(on_gpu(p)), bits_of(on_cpu(p)));
}

TEST(Reproducible, ErrorsAreWithinTheBound) {
  for (const Family& family : families) {
    const Problem p = filled(40, 37, 700, family.element);
    const Floats c = on_cpu(p);
    double worst = 0;
    for (std::int64_t i = 0; i < p.m; ++i) {
      for (std::int64_t j = 0; j < p.n; ++j) {
        double sum = 0, squares_a = 0, squares_b = 0;
        for (std::int64_t l = 0; l < p.k; ++l) {
          const double x = p.a[i * p.k + l], y = p.b[l * p.n + j];
          sum += x * y;
          squares_a += x * x;
          squares_b += y * y;
        }
        const float got = c[i * p.n + j];
        const auto expected = static_cast<float>(sum);
        if (!std::isfinite(expected)) {
          EXPECT_TRUE(std::isnan(expected) ? std::isnan(got) : got == expected) << family.name;
          continue;
        }
        const double bound = 568 * u * std::sqrt(squares_a) * std::sqrt(squares_b) + 0x1p-126;
        worst = std::max(worst, std::abs(got - sum) / bound);
      }
    }
    std::printf("%-32s %.3f of the bound\n", family.name, worst);
    EXPECT_LE(worst, 1) << family.name;
    // Far above measured errors, but far below those without one of the products.
    const bool is_measured = &family - families < 2;
    EXPECT_LE(is_measured ? worst * 568 : 0, 4) << family.name;
  }
}

TEST_F(CudaReproducible, OtherTypesAreRefusedAndIntegersAreNot) {
  const std::vector<double> ones(4, 1.0);
  std::vector<double> c(4, 0.0);
  const auto refused = refusal([&] {
    gemm(1.0, row_major(ones.data(), 2, 2), row_major(ones.data(), 2, 2), 0.0,
         row_major(c.data(), 2, 2), GemmOptions{.compute_mode = ComputeMode::reproducible});
  });
  EXPECT_EQ(refused.first, Status::unavailable);
  EXPECT_EQ(
      refused.second,
      "rung: gemm: compute_mode is 2 (reproducible), the elements are f64; this mode is for f32, "
      "i32 and i8");
  const std::vector<std::int32_t> twos(4, 2);
  std::vector<std::int32_t> d(4, 0);
  gemm(1, row_major(twos.data(), 2, 2), row_major(twos.data(), 2, 2), 0, row_major(d.data(), 2, 2),
       GemmOptions{.compute_mode = ComputeMode::reproducible});
  EXPECT_EQ(d, std::vector<std::int32_t>(4, 8));
}

TEST(ReproducibleChoice, GpusWithoutItsInstructionsAreRefused) {
  const CudaGemmShape shape = {.dtype = Dtype::f32,
                               .m = 8,
                               .n = 8,
                               .k = 8,
                               .a = Order::row_major,
                               .b = Order::row_major,
                               .alignment = 16,
                               .arch = 80,
                               .compute_mode = ComputeMode::reproducible};
  EXPECT_EQ(refusal([&] { choose_cuda_gemm(shape); }).second,
            "rung: gemm: no kernel for f32 on this GPU, sm_80; it needs sm_90");
  CudaGemmShape small = shape;
  small.arch = 90;
  small.bytes_for_copies = bytes_for_copies(small) - 1;
  EXPECT_EQ(refusal([&] { choose_cuda_gemm(small); }).first, Status::invalid_argument);
  ++small.bytes_for_copies;
  EXPECT_EQ(choose_cuda_gemm(small).id, "gemm/cuda/digits");
}

}  // namespace
}  // namespace rung
